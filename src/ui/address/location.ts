/** The address bar as a signal. */
import { signal } from '@preact/signals';
import { hashOf, readAddress, type Place, type Query } from './address.js';

export const address = signal(readAddress(location.hash));

window.addEventListener('hashchange', () => {
  address.value = readAddress(location.hash);
});

/** Opens a view; Back returns to this one. */
export function goTo(place: Place, query: Query = {}): void {
  location.hash = hashOf(place, query);
}

/** Sets filters of this view. Back skips them: a slider would fill the history. */
export function setQuery(changes: Query): void {
  const { place, query } = address.peek();
  const next = { ...query, ...changes };
  history.replaceState(history.state, '', hashOf(place, next));
  address.value = readAddress(location.hash);
}
