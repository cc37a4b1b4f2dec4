/** Drawn copies of jobs live as long as their jobs, those of synchronous calls as long as a result. */
import type { Annotator } from '../annotate/annotate.js';
import type { Logger } from '../base/logger-port.js';
import type { ServiceStore } from '../store/service-store.js';

const HOUR_MS = 3_600_000;

export interface DrawnCopies {
  /** Bytes of all copies, at the last look; null before the first. */
  bytes(): number | null;
  stop(): void;
}

/** Removes outlived copies now and once per hour: of calls, and of jobs that were removed while the service crashed. */
export function pruneDrawnCopies(
  annotator: Pick<Annotator, 'prune'>,
  store: Pick<ServiceStore, 'copiesOfJobs'>,
  ttlHours: number,
  logger: Logger,
): DrawnCopies {
  let bytes: number | null = null;
  const prune = () => {
    const before = Date.now() - ttlHours * HOUR_MS;
    annotator
      .prune(before, (names) => store.copiesOfJobs(names))
      .then(
        (pruned) => {
          ({ bytes } = pruned);
        },
        (error: unknown) => {
          logger.warn({ error: String(error) }, 'old drawn copies cannot be removed');
        },
      );
  };
  prune();
  const timer = setInterval(prune, HOUR_MS);
  timer.unref();
  return {
    bytes: () => bytes,
    stop: () => {
      clearInterval(timer);
    },
  };
}
