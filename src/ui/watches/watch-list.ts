/** The watches of the API key, asked for again and again while they are shown. */
import { useSignal, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Watch, WatchPatch } from '../../client/lattice-client.js';
import { service } from '../session/session.js';

const EVERY_MS = 3_000;

export interface WatchList {
  /** Null until the first list came. */
  watches: Signal<readonly Watch[] | null>;
  /** Of the list. */
  fault: Signal<unknown>;
  /** Of what was done last. */
  actionFault: Signal<unknown>;
  ask: () => void;
  /** These tell whether it was done. */
  change: (name: string, changes: WatchPatch) => Promise<boolean>;
  remove: (name: string) => Promise<boolean>;
}

export function useWatchList(): WatchList {
  const watches = useSignal<readonly Watch[] | null>(null);
  const fault = useSignal<unknown>(null);
  const actionFault = useSignal<unknown>(null);
  /** Lists that were asked for before the newest request show what was before an action. */
  const asked = useRef(0);
  const open = useRef(0);
  const ask = async (): Promise<void> => {
    const turn = ++asked.current;
    const isNewest = (): boolean => turn === asked.current;
    open.current += 1;
    try {
      const list = await service.watches();
      if (isNewest()) {
        watches.value = list;
        fault.value = null;
      }
    } catch (error) {
      if (isNewest()) fault.value = error;
    }
    open.current -= 1;
  };
  const act = async (work: Promise<unknown>): Promise<boolean> => {
    actionFault.value = null;
    const isDone = await work.then(
      () => true,
      (error: unknown) => {
        actionFault.value = error;
        return false;
      },
    );
    await ask();
    return isDone;
  };
  useEffect(() => {
    void ask();
    const timer = setInterval(() => {
      if (!document.hidden && open.current === 0) void ask();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return {
    watches,
    fault,
    actionFault,
    ask: () => void ask(),
    change: (name, changes) => act(service.changeWatch(name, changes)),
    remove: (name) => act(service.deleteWatch(name)),
  };
}
