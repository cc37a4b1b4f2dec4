/** Turns of the event loop, one per caller. */
import { setImmediate } from 'node:timers/promises';

/**
 * Each call resolves in a separate turn of the event loop, in order of calling. Two pages are never parsed in one turn,
 * however many callers there are: a message port can deliver a thousand messages in one turn.
 */
export function createTurns(): () => Promise<void> {
  let last = Promise.resolve();
  return () => (last = last.then(() => setImmediate()));
}
