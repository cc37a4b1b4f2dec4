/** Calls of a service that may be away for a while. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../client/lattice-client.js';

const PAUSE_MS = 2_000;

/**
 * Resolves as the call; while the service is away or has no room it is called again. `tell` gets the reason, and null
 * when the service answers. Rejects with the error of the call, or with an `AbortError` after the signal.
 */
export async function patiently<T>(
  call: () => Promise<T>,
  tell: (lost: ServiceError | null) => void,
  signal: AbortSignal,
): Promise<T> {
  for (;;) {
    try {
      const answer = await call();
      tell(null);
      return answer;
    } catch (error) {
      if (!(error instanceof ServiceError) || !error.isPassing) throw error;
      tell(error);
      await sleep(PAUSE_MS, undefined, { signal });
    }
  }
}
