/** The API key of this tab, and the client that carries it. */
import { signal, type Signal } from '@preact/signals';
import { LatticeClient } from '../../client/lattice-client.js';

const NAME = 'lattice-api-key';
/** Longer than the service lets a detection take by itself. */
const DEADLINE_MS = 120_000;

/** The API key, which is kept until the tab is closed. */
export const apiKey = signal(sessionStorage.getItem(NAME));

/** Why the page must ask for a key; null while it need not. */
export const keyAsked = signal<'missing' | 'unknown' | null>(null);

/** When a call was answered last, in milliseconds; null before the first. */
export const lastAnswer = signal<number | null>(null);
/** The last call found nothing that it could connect to. */
export const isUnreachable = signal(false);

/** Another one with each key. */
export let service = clientOf(apiKey.peek());

/** Client without retries: the page shows each answer at once, and repeats no call in the background. */
function clientOf(key: string | null): LatticeClient {
  return new LatticeClient({
    url: location.origin,
    apiKey: key ?? undefined,
    deadlineMs: DEADLINE_MS,
    retry: false,
    onUnauthorized: () => {
      // A late answer to an earlier key says nothing about the key of the moment.
      if (key === apiKey.peek()) askForKey();
    },
    onReached: (isReached) => {
      isUnreachable.value = !isReached;
      if (isReached) lastAnswer.value = Date.now();
    },
  });
}

/** The newest call whose answer each signal shows. */
const newest = new WeakMap<Signal, Promise<unknown>>();

/**
 * Shows what comes, unless another call for the same signal has been made since; what was shown stays when a call
 * fails. Never rejects.
 */
export async function show<T>(
  call: Promise<T>,
  shown: Signal<T | null>,
  fault: Signal<unknown>,
): Promise<void> {
  newest.set(shown, call);
  const isNewest = (): boolean => newest.get(shown) === call;
  try {
    const came = await call;
    if (!isNewest()) return;
    shown.value = came;
    fault.value = null;
  } catch (error) {
    if (isNewest()) fault.value = error;
  }
}

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
  service = clientOf(key);
}
