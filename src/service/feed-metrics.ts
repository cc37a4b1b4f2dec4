/** Where the metrics get their figures. */
import type { ShadowRuns } from '../aliases/shadow-runs.js';
import { isEnd } from '../api/events.js';
import { imageFigures } from '../api/statistics.js';
import type { Cluster } from '../clusters/cluster.js';
import type { AbsentWorker } from '../execution/near/absent-workers.js';
import { countByState, gpusOf } from '../execution/worker-stats.js';
import { readinessFault } from '../http/routes/health.js';
import type { KeyUse } from '../http/app-deps.js';
import type { JobService } from '../jobs/job-service.js';
import type { Jobs } from '../jobs/open-jobs.js';
import type { ServiceStore } from '../store/service-store.js';
import { waitingFiles } from '../watches/watch-run.js';
import type { Watches } from '../watches/watches.js';
import type { Metrics } from './metrics.js';

export interface MetricFeeds {
  cluster: Cluster;
  store: Pick<ServiceStore, 'webhooks' | 'keptJobs'>;
  jobs: Jobs;
  watches: Pick<Watches, 'progress'>;
  shadows: Pick<ShadowRuns, 'shares'>;
  /** Use by all keys; none without authentication. */
  keyUse: () => Promise<readonly KeyUse[]>;
  /** True once the service has begun to stop. */
  draining: () => boolean;
  cpuWaitRatio: () => number;
  /** Bytes of all drawn copies; null: not known yet. */
  drawnBytes: () => number | null;
}

export function feedMetrics(
  metrics: Metrics,
  {
    cluster,
    store,
    jobs,
    watches,
    shadows,
    keyUse,
    draining,
    cpuWaitRatio,
    drawnBytes,
  }: MetricFeeds,
): void {
  const { detector } = cluster;
  const jobsHealth = () => jobs.health();
  countJobs(metrics, jobs.service);
  metrics.watch({
    ready: async () => (await readinessFault({ draining, detector, jobsHealth })) === null,
    jobs: async () => {
      const { pending, running } = await jobs.service.counts();
      return { pending, running };
    },
    jobImages: async () => (await jobs.service.counts()).queuedImages,
    images: async () => {
      const { queuedImages } = await jobs.service.counts();
      const { waiting, inHand } = imageFigures(detector.stats(), queuedImages);
      return { waiting, in_hand: inHand };
    },
    cpuWaitRatio,
    oldestJobSeconds: async () => secondsSince(await jobs.service.oldestPendingAt()),
    webhooksWaiting: () => store.webhooks.waitingCount(),
    storeBytes: () => ({ ...jobs.storeFigures().size }),
    storeFull: () => jobs.storeFigures().isFull,
    drawnBytes: () => drawnBytes() ?? [],
    keptJobs: () => store.keptJobs(),
    removedJobs: () => ({ ...jobs.storeFigures().removed }),
    watchesWaiting: () =>
      watches.progress().map(({ name, progress }) => ({
        labels: { watch: name },
        value: waitingFiles(progress),
      })),
    watchesSkipped: () =>
      watches.progress().flatMap(({ name, progress }) =>
        Object.entries(progress.report?.skipped ?? {}).map(([reason, value]) => ({
          labels: { watch: name, reason },
          value,
        })),
      ),
    shadowShares: () =>
      shadows.shares().map(({ alias, share }) => ({ labels: { alias }, value: share })),
    keyUse,
    statistics: () => detector.stats(),
    workers: () => ({ ...countByState(detector.workers()), ...countAbsent(cluster) }),
    workerEvents: () => ({ ...detector.events }),
    gpus: () => gpusOf(detector.workers()),
  });
}

/** A job that an earlier process began counts from its start in this one. */
export function countJobs(metrics: Metrics, jobs: Pick<JobService, 'onEvent'>): void {
  const startedAt = new Map<string, number>();
  jobs.onEvent(({ event, jobId, timestamp }) => {
    if (event === 'job_started') startedAt.set(jobId, timestamp);
    if (!isEnd(event)) return;
    const start = startedAt.get(jobId);
    startedAt.delete(jobId);
    const seconds = start === undefined ? null : Math.max(0, timestamp - start);
    metrics.countEndedJob(event === 'job_completed' ? 'completed' : 'failed', seconds);
  });
}

/** Nothing where images run in this process. */
function countAbsent(cluster: Cluster): Partial<Record<AbsentWorker['state'], number>> {
  const absent = cluster.absent?.();
  if (absent === undefined) return {};
  const counts = { failed: 0, lost: 0, refused: 0 };
  for (const { state } of absent) counts[state] += 1;
  return counts;
}

/** 0 for null, and for a time that lies ahead because the clock was set back. */
function secondsSince(unixSeconds: number | null): number {
  return unixSeconds === null ? 0 : Math.max(0, Date.now() / 1_000 - unixSeconds);
}
