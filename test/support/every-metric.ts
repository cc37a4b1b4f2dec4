/** The metrics of a whole service that has nothing to do, made by the same parts. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { addShadowFigures, shadowCounter } from '../../src/aliases/shadow-metrics.js';
import { openAnnotator } from '../../src/annotate/open-annotator.js';
import { Releases } from '../../src/base/releases.js';
import { addClusterMetrics, type MeasuredCluster } from '../../src/clusters/cluster-metrics.js';
import { addHttpMetrics } from '../../src/http/http-metrics.js';
import { addJobMetrics, reusedCounter, type MeasuredJobs } from '../../src/jobs/job-metrics.js';
import type { Metrics } from '../../src/metrics/metrics.js';
import { openMetrics } from '../../src/metrics/open-metrics.js';
import { openServiceLoad } from '../../src/service/service-load.js';
import type { JobEvent } from '../../src/store/job.js';
import { addWatchFigures, lagHistogram } from '../../src/watches/watch-metrics.js';
import { addWebhookMetrics } from '../../src/webhooks/webhook-metrics.js';
import { eventually } from './eventually.js';
import { FakeDetector } from './fake-detector.js';
import { reportOf, type GpuWorker } from './simulated-gpus.js';
import { silent } from './silent-logger.js';

const ignore = () => undefined;

export const idleCluster = (workers: readonly GpuWorker[] = []): MeasuredCluster => ({
  detector: {
    stats: () => new FakeDetector().stats(),
    workers: () => reportOf(workers),
    events: { lost: 0, requeued: 0, stale: 0 },
    onImage: ignore,
  },
});

/** `tell` tells of an event. */
export function idleJobs(): { jobs: MeasuredJobs; tell: (event: JobEvent) => void } {
  const listeners: ((event: JobEvent) => void)[] = [];
  const jobs: MeasuredJobs = {
    service: {
      counts: () => Promise.resolve({ pending: 0, running: 0, queuedImages: 0 }),
      oldestPendingAt: () => Promise.resolve(null),
      onEvent: (listener) => {
        listeners.push(listener);
        return ignore;
      },
    },
    store: { keptJobs: () => Promise.resolve(0) },
    detector: new FakeDetector(),
    storeFigures: () => ({
      size: { used: 0, file: 0 },
      isFull: false,
      removed: { age: 0, bound: 0, request: 0 },
    }),
  };
  const tell = (event: JobEvent) => {
    for (const listener of listeners) listener(event);
  };
  return { jobs, tell };
}

/** A watch that has five files to submit and leaves one out. */
const WATCHED = {
  name: 'gate',
  progress: {
    counts: { files: 6, unstable: 1, stable: 1, new: 1, deferred: 2, oldestNewMs: 0 },
    report: { skipped: { empty: 1 } },
  },
};

export const WATCHES = {
  progress: () => [WATCHED],
  openFindings: () => Promise.resolve([{ kind: 'covered' as const, findings: 2 }]),
};

/** The metrics, and the functions that tell them of events. Ended by `close`. */
export async function everyMetric(workers: readonly GpuWorker[] = []) {
  const releases = new Releases(silent, 0);
  const metrics: Metrics = openMetrics(releases);
  const shared = { metrics, releases, logger: silent };
  const cluster = idleCluster(workers);
  addClusterMetrics(metrics, '1.2.3', cluster);
  const { jobs, tell } = idleJobs();
  addJobMetrics(metrics, jobs);
  reusedCounter(metrics);
  lagHistogram(metrics);
  addWatchFigures(metrics, WATCHES);
  shadowCounter(metrics);
  addShadowFigures(metrics, { shares: () => [{ alias: 'depot.pt', share: 1 }] });
  const onAttempt = addWebhookMetrics(metrics, { waitingCount: () => Promise.resolve(0) });
  openServiceLoad({ ...shared, detector: cluster.detector });
  openAnnotator({
    ...shared,
    config: { dataDir: join(tmpdir(), 'no such folder'), maxPixels: 1, resultTtlHours: 1 },
    store: { copiesOfJobs: () => Promise.resolve([]) },
    detector: new FakeDetector(),
  });
  const http = addHttpMetrics(metrics, {
    draining: () => false,
    detector: new FakeDetector(),
    jobsHealth: () => Promise.resolve(null),
    keyUse: () => Promise.resolve([{ owner: 'a', name: 'A', isAdmin: false, quotas: [] }]),
  });
  await eventually(async () => {
    expect(await metrics.render()).toContain('lattice_drawn_copies_bytes');
  });
  return { metrics, cluster, tell, onAttempt, http, close: () => releases.releaseAll() };
}
