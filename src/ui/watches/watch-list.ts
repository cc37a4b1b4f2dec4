/** The watches of the API key, asked for again and again while they are shown. */
import type { Signal } from '@preact/signals';
import type { Watch, WatchPatch } from '../../client/lattice-client.js';
import { useAsked } from '../live/use-asked.js';
import { service } from '../session/session.js';

export interface WatchList {
  /** Null until the first list came. */
  watches: Signal<readonly Watch[] | null>;
  /** Fault of the list. */
  fault: Signal<unknown>;
  /** Fault of the last action. */
  actionFault: Signal<unknown>;
  ask: () => void;
  /** These tell whether it was done. */
  change: (name: string, changes: WatchPatch) => Promise<boolean>;
  remove: (name: string) => Promise<boolean>;
}

export function useWatchList(): WatchList {
  const { answer, fault, actionFault, ask, act } = useAsked(() => service.watches());
  return {
    watches: answer,
    fault,
    actionFault,
    ask: () => void ask(),
    change: (name, changes) => act(service.changeWatch(name, changes)),
    remove: (name) => act(service.deleteWatch(name)),
  };
}
