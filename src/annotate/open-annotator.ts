/** Drawn copies of jobs live as long as their jobs, those of synchronous calls for `resultTtlHours`. */
import type { Logger } from '../base/logger-port.js';
import type { ReleaseList } from '../base/releases.js';
import type { Metrics } from '../metrics/metrics.js';
import type { Config } from '../settings/config.js';
import type { ServiceStore } from '../store/service-store.js';
import { Annotator, type AnnotatorOptions } from './annotate.js';

const HOUR_MS = 3_600_000;

export interface AnnotatorParts {
  config: Pick<Config, 'dataDir' | 'maxPixels' | 'resultTtlHours'>;
  store: Pick<ServiceStore, 'copiesOfJobs'>;
  detector: AnnotatorOptions['detector'];
  logger: Logger;
  metrics: Metrics;
  releases: ReleaseList;
}

/** Removes expired copies now and once per hour: of calls, and of jobs that were removed while the service crashed. */
export function openAnnotator(parts: AnnotatorParts): Annotator {
  const { config, store, detector, logger, metrics, releases } = parts;
  const annotator = new Annotator({ detector, ...config });
  let bytes: number | null = null;
  const prune = () => {
    const before = Date.now() - config.resultTtlHours * HOUR_MS;
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
  const timer = setInterval(prune, HOUR_MS).unref();
  metrics.figures({
    name: 'lattice_drawn_copies_bytes',
    help: 'Size of the drawn copies, looked at once per hour.',
    // The bytes are unknown until the first look has ended.
    read: () => bytes ?? [],
  });
  releases.add('drawn copies', () => {
    clearInterval(timer);
  });
  return annotator;
}
