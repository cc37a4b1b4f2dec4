/** The API key of this tab, and the calls that carry it. */
import { signal } from '@preact/signals';
import { Api } from './api.js';

const NAME = 'lattice-api-key';

/** Kept until the tab is closed. */
export const apiKey = signal(sessionStorage.getItem(NAME));

/** Why the page must ask for a key; null while it need not. */
export const keyAsked = signal<'missing' | 'unknown' | null>(null);

export const api = new Api({
  fetch: window.fetch.bind(window),
  key: () => apiKey.peek(),
  onUnauthorized: askForKey,
});

export function askForKey(): void {
  if (keyAsked.peek() !== null) return;
  keyAsked.value = apiKey.peek() === null ? 'missing' : 'unknown';
  save(null);
}

export function enterKey(key: string): void {
  save(key);
  keyAsked.value = null;
}

export function forgetKey(): void {
  save(null);
  keyAsked.value = 'missing';
}

function save(key: string | null): void {
  if (key === null) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, key);
  apiKey.value = key;
}
