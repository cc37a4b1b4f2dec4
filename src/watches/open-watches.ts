/** The watches of a service. */
import type { Allowances } from '../store/allowances.js';
import type { Logger } from '../base/logger-port.js';
import type { ReleaseList } from '../base/releases.js';
import type { JobService } from '../jobs/job-service.js';
import type { Metrics } from '../metrics/metrics.js';
import type { Config } from '../settings/config.js';
import type { WatchLedger } from './watch-ledger.js';
import { addWatchFigures, lagHistogram } from './watch-metrics.js';
import { Watches } from './watches.js';

export interface WatchParts {
  config: Pick<Config, 'imageRoots' | 'watchNotices'>;
  store: WatchLedger;
  jobs: JobService;
  allowances: Allowances;
  logger: Logger;
  metrics: Metrics;
  releases: ReleaseList;
}

export async function openWatches(parts: WatchParts): Promise<Watches> {
  const { config, store, jobs, allowances, logger, metrics, releases } = parts;
  const watches = await Watches.open({
    ledger: store,
    jobs,
    imageRoots: config.imageRoots,
    logger,
    notices: config.watchNotices,
    allowances,
    onLag: lagHistogram(metrics),
  });
  addWatchFigures(metrics, watches);
  releases.addDrain('watches', () => watches.stop());
  return watches;
}
