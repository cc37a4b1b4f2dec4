/** A wait that always ends: with the work's outcome, or at the deadline. */
import { LatticeError } from '../../errors.js';

/** The detector answers deadlines by itself; this much later the wait ends without it. */
const GRACE_MS = 250;

/**
 * Runs `work`. Its signal is aborted when `clientGone` is, and when `deadlineMs` and a little grace have passed;
 * then the promise rejects with `deadline_exceeded`, whether or not the work ever settles.
 */
export function withinDeadline<T>(
  deadlineMs: number,
  clientGone: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => {
      controller.abort();
    };
    const expire = (): void => {
      reject(new LatticeError('deadline_exceeded', `No result within ${deadlineMs} ms.`));
      abort();
    };
    const timer = setTimeout(expire, deadlineMs + GRACE_MS);
    const settle = (): void => {
      clearTimeout(timer);
      clientGone.removeEventListener('abort', abort);
    };
    if (clientGone.aborted) abort();
    else clientGone.addEventListener('abort', abort, { once: true });
    work(controller.signal).then(resolve, reject).finally(settle).catch(reject);
  });
}
