/** The entries of a folder, read page by page. */
import { useSignal, useSignalEffect, type Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { service } from '../session/session.js';
import type { FolderEntry } from './folder.js';

const PAGE = 200;
/** A search reads on in a large folder until it has looked at so many names. */
const MOST_SEARCHED = 5_000;

export interface Listing {
  entries: readonly FolderEntry[];
  cursor: string | null;
  isLoading: boolean;
  fault: unknown;
}

const LOADING: Listing = { entries: [], cursor: null, isLoading: true, fault: null };
/** Pages of the folder: the first one at once, others when they are wanted or searched. */
export function useListing(folder: Signal<string>, search: Signal<string>) {
  const listing = useSignal(LOADING);
  const stop = useRef(new AbortController());
  const load = (under: string, cursor: string | null): void => {
    const { signal } = stop.current;
    listing.value = { ...listing.peek(), isLoading: true };
    service.folder({ under, limit: PAGE, cursor: cursor ?? undefined }, { signal }).then(
      ({ entries, next_cursor }) => {
        if (signal.aborted) return;
        const before = cursor === null ? [] : listing.peek().entries;
        const all = [...before, ...entries];
        listing.value = { entries: all, cursor: next_cursor, isLoading: false, fault: null };
      },
      (fault: unknown) => {
        if (!signal.aborted) listing.value = { ...LOADING, isLoading: false, fault };
      },
    );
  };
  useSignalEffect(() => {
    const under = folder.value;
    stop.current.abort();
    stop.current = new AbortController();
    listing.value = LOADING;
    load(under, null);
    return () => {
      stop.current.abort();
    };
  });
  useSignalEffect(() => {
    const { cursor, isLoading, entries } = listing.value;
    const reads = search.value.trim() !== '' && entries.length < MOST_SEARCHED;
    if (reads && cursor !== null && !isLoading) load(folder.peek(), cursor);
  });
  const more = (): void => {
    const { cursor, isLoading } = listing.peek();
    if (cursor !== null && !isLoading) load(folder.peek(), cursor);
  };
  return { listing, more };
}
