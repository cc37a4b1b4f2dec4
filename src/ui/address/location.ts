/** The address bar as a signal. */
import { signal } from '@preact/signals';
import { hashOf, readAddress, type Route, type Query } from './address.js';

export const address = signal(readAddress(location.hash));

/** Browsers ignore writes of the address that follow each other faster than about 20 a second. */
const WRITE_MS = 100;
let writing: ReturnType<typeof setTimeout> | undefined;
let isWritten = true;

window.addEventListener('hashchange', () => {
  isWritten = true;
  address.value = readAddress(location.hash);
});

/** Opens a screen; Back returns to this one. */
export function goTo(route: Route, query: Query = {}): void {
  write();
  const hash = hashOf(route, query);
  location.hash = hash;
  // The event comes later than the next call may.
  address.value = readAddress(hash);
}

/** Sets filters of this screen. Back skips them: a slider would fill the history. */
export function setQuery(changes: Query): void {
  const { route, query } = address.peek();
  address.value = readAddress(hashOf(route, { ...query, ...changes }));
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
  const { route, query } = address.peek();
  history.replaceState(history.state, '', hashOf(route, query));
}
