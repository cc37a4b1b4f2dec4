/** Stops waiting for work that goes on for others. */
import { LatticeError } from '../errors.js';

export interface EarlyReasons {
  signal: AbortSignal | undefined;
  stopping: AbortSignal;
  /** Undefined or 0: none. */
  deadlineMs: number | undefined;
}

/** `work`, or a rejection with `cancelled`, `shutting_down` or `deadline_exceeded` if that comes first. */
export async function settleEarly<T>(work: Promise<T>, reasons: EarlyReasons): Promise<T> {
  const { signal, stopping, deadlineMs } = reasons;
  const listening = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const early = new Promise<never>((_resolve, reject) => {
    const on = (source: AbortSignal | undefined, error: LatticeError) => {
      const give = () => {
        reject(error);
      };
      if (source?.aborted === true) give();
      source?.addEventListener('abort', give, { signal: listening.signal });
    };
    on(signal, new LatticeError('cancelled', 'Cancelled.'));
    on(stopping, new LatticeError('shutting_down', 'The detector is stopping.'));
    if (deadlineMs !== undefined && deadlineMs > 0) {
      timer = setTimeout(() => {
        reject(
          new LatticeError('deadline_exceeded', 'The deadline passed while the model was loaded.'),
        );
      }, deadlineMs);
    }
  });
  try {
    return await Promise.race([work, early]);
  } finally {
    clearTimeout(timer);
    listening.abort();
  }
}

/** What is left of a deadline after waiting for the model; at least 1, because 0 means none. */
export function remaining(deadlineMs: number | undefined, started: number): number {
  if (deadlineMs === undefined || deadlineMs <= 0) return 0;
  return Math.max(1, deadlineMs - (performance.now() - started));
}
