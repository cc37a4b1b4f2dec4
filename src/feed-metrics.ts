/** Where the metrics get their figures. */
import type { Cluster } from './execution/cluster.js';
import { countByState, gpusOf } from './execution/worker-stats.js';
import { readinessFault } from './http/system/readiness.js';
import type { Jobs } from './jobs/open-jobs.js';
import type { Metrics } from './observability/metrics.js';

export interface MetricFeeds {
  cluster: Cluster;
  jobs: Jobs;
  /** True once the service has begun to stop. */
  draining: () => boolean;
}

export function feedMetrics(metrics: Metrics, { cluster, jobs, draining }: MetricFeeds): void {
  const { detector } = cluster;
  const jobsHealth = () => jobs.health();
  jobs.service.onEvent(({ event }) => {
    if (event === 'job_completed') metrics.countEndedJob('completed');
    else if (event === 'job_failed') metrics.countEndedJob('failed');
  });
  metrics.watch({
    ready: async () => (await readinessFault({ draining, detector, jobsHealth })) === null,
    jobs: async () => {
      const { pending, running } = await jobs.service.counts();
      return { pending, running };
    },
    jobImages: async () => (await jobs.service.counts()).queuedImages,
    oldestJobSeconds: async () => secondsSince(await jobs.service.oldestPendingAt()),
    webhooksWaiting: () => jobs.webhooks.waitingCount(),
    queuedImages: () => {
      const { queuedSync, queuedAsync } = detector.stats();
      return { sync: queuedSync, async: queuedAsync };
    },
    heldBytes: () => detector.stats().heldBytes,
    hangingFolders: () => detector.stats().hangingFolders,
    workers: () => ({ ...countByState(detector.workers()), ...countFailed(cluster) }),
    workerEvents: () => ({ ...detector.events }),
    gpus: () => gpusOf(detector.workers()),
  });
}

/** Nothing where the service does not start the workers. */
function countFailed(cluster: Cluster): { failed?: number } {
  const leftOut = cluster.leftOut?.();
  return leftOut === undefined ? {} : { failed: leftOut.length };
}

/** 0 for null, and for a time that lies ahead because the clock was set back. */
function secondsSince(unixSeconds: number | null): number {
  return unixSeconds === null ? 0 : Math.max(0, Date.now() / 1_000 - unixSeconds);
}
