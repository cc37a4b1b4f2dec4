/** The address bar as a signal. */
import { signal } from '@preact/signals';
import { hashOf, readAddress, type Place, type Query } from './address.js';

export const address = signal(readAddress(location.hash));

/** Browsers ignore writes of the address that follow each other faster than about 20 a second. */
const WRITE_MS = 100;
let writing: ReturnType<typeof setTimeout> | undefined;
let isWritten = true;

window.addEventListener('hashchange', () => {
  isWritten = true;
  address.value = readAddress(location.hash);
});

/** Opens a view; Back returns to this one. */
export function goTo(place: Place, query: Query = {}): void {
  write();
  const hash = hashOf(place, query);
  location.hash = hash;
  // The event comes later than the next call may.
  address.value = readAddress(hash);
}

/** Sets filters of this view. Back skips them: a slider would fill the history. */
export function setQuery(changes: Query): void {
  const { place, query } = address.peek();
  address.value = readAddress(hashOf(place, { ...query, ...changes }));
  isWritten = false;
  if (writing !== undefined) return;
  write();
  writing = setTimeout(() => {
    writing = undefined;
    write();
  }, WRITE_MS);
}

function write(): void {
  if (isWritten) return;
  isWritten = true;
  const { place, query } = address.peek();
  history.replaceState(history.state, '', hashOf(place, query));
}
