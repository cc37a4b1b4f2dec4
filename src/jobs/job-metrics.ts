/** Jobs, their images and their store, in the metrics. */
import { isEnd } from '../api/events.js';
import { imageFigures } from '../api/schemas/statistics.js';
import type { Detector } from '../execution/detector.js';
import type { Metrics } from '../metrics/metrics.js';
import type { ServiceStore } from '../store/service-store.js';
import type { JobService } from './job-service.js';
import type { Jobs } from './jobs.js';

/** Buckets from one small picture to a folder of a million. */
const JOB_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400];

export interface MeasuredJobs extends Pick<Jobs, 'storeFigures'> {
  service: Pick<JobService, 'counts' | 'oldestPendingAt' | 'onEvent'>;
  store: Pick<ServiceStore, 'keptJobs'>;
  detector: Pick<Detector, 'stats'>;
}

export function addJobMetrics(metrics: Metrics, jobs: MeasuredJobs): void {
  const { service, store, detector, storeFigures } = jobs;
  countEndedJobs(metrics, service);
  metrics.figures(
    {
      name: 'lattice_jobs',
      help: 'Jobs by status.',
      label: 'status',
      read: async () => {
        const { pending, running } = await service.counts();
        return { pending, running };
      },
    },
    {
      name: 'lattice_job_images',
      help: 'Images of jobs that are still to be done.',
      read: async () => (await service.counts()).queuedImages,
    },
    {
      name: 'lattice_images_now',
      help: 'Images that wait (no worker has them), and that workers have in hand.',
      label: 'state',
      read: async () => {
        const { queuedImages } = await service.counts();
        const { waiting, inHand } = imageFigures(detector.stats(), queuedImages);
        return { waiting, in_hand: inHand };
      },
    },
    {
      name: 'lattice_oldest_job_seconds',
      help: 'How long the oldest job that has not started has waited; 0 when there is none.',
      read: async () => secondsSince(await service.oldestPendingAt()),
    },
    {
      name: 'lattice_store_bytes',
      help: 'Size of the job store: used by its tables, and of its file.',
      label: 'part',
      read: () => ({ ...storeFigures().size }),
    },
    {
      name: 'lattice_store_full',
      help: '1 while new jobs are refused because the store has reached LATTICE_STORE_MAX_MB, else 0.',
      read: () => storeFigures().isFull,
    },
    {
      name: 'lattice_kept_jobs',
      help: 'Jobs that the retention time does not remove.',
      read: () => store.keptJobs(),
    },
    {
      name: 'lattice_jobs_removed_total',
      help: 'Jobs removed by reason: age, bound (LATTICE_STORE_MAX_MB), request.',
      kind: 'counter',
      label: 'reason',
      read: () => ({ ...storeFigures().removed }),
    },
  );
}

/** Returns the function that counts images. */
export function reusedCounter(metrics: Metrics): (images: number) => void {
  const count = metrics.counter({
    name: 'lattice_images_reused_total',
    help: 'Images of jobs that took over a stored result and did not run.',
    labels: [],
  });
  return (images) => {
    count({}, images);
  };
}

/** A job that an earlier process began counts from its start in this one. */
function countEndedJobs(metrics: Metrics, jobs: Pick<JobService, 'onEvent'>): void {
  const observeSeconds = metrics.histogram({
    name: 'lattice_job_seconds',
    help: 'Time from the start of a job to its end, by status: completed, failed.',
    labels: ['status'],
    buckets: JOB_BUCKETS,
  });
  const countEnded = metrics.counter({
    name: 'lattice_jobs_ended_total',
    help: 'Jobs that ended, by status: completed, failed (cancelled ones are among them).',
    labels: ['status'],
    fromStart: [{ status: 'completed' }, { status: 'failed' }],
  });
  const startedAt = new Map<string, number>();
  jobs.onEvent(({ event, jobId, timestamp }) => {
    if (event === 'job_started') startedAt.set(jobId, timestamp);
    if (!isEnd(event)) return;
    const start = startedAt.get(jobId);
    startedAt.delete(jobId);
    const status = event === 'job_completed' ? 'completed' : 'failed';
    countEnded({ status });
    if (start !== undefined) observeSeconds({ status }, Math.max(0, timestamp - start));
  });
}

/** 0 for null, and for a time that lies ahead because the clock was set back. */
function secondsSince(unixSeconds: number | null): number {
  return unixSeconds === null ? 0 : Math.max(0, Date.now() / 1_000 - unixSeconds);
}
