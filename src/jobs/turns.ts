/** Turns of the event loop, handed out one by one. */
import { setImmediate } from 'node:timers/promises';

/**
 * Each call resolves in a turn of its own, in order of calling. Pieces of work that wait for theirs never run back to
 * back, however many callers there are and however their data arrives: one message port can hand over a thousand
 * messages in a single turn.
 */
export function createTurns(): () => Promise<void> {
  let last = Promise.resolve();
  return () => (last = last.then(() => setImmediate()));
}
