import { beforeEach, expect, test } from 'vitest';
import type { JobEventName } from '../../src/api/events.js';
import { addJobMetrics, reusedCounter } from '../../src/jobs/job-metrics.js';
import { Metrics } from '../../src/metrics/metrics.js';
import { idleJobs } from '../support/every-metric.js';
import { FakeDetector } from '../support/fake-detector.js';
import { seriesValue } from '../support/metric-series.js';

let metrics: Metrics;
beforeEach(() => {
  metrics = new Metrics();
});

const value = (series: string) => seriesValue(metrics, series);

test('jobs that ended are counted by status, their duration from their start', async () => {
  const { jobs, tell: tellEvent } = idleJobs();
  addJobMetrics(metrics, jobs);
  const tell = (event: JobEventName, jobId: string, timestamp: number) => {
    const fields = {
      status: 'running',
      seq: 1,
      progress: 0,
      failedImages: 0,
      reusedImages: 0,
      keyId: null,
    } as const;
    tellEvent({ ...fields, event, jobId, timestamp });
  };
  tell('job_submitted', 'a', 100);
  tell('job_started', 'a', 140);
  tell('job_started', 'b', 141);
  tell('job_failed', 'never started', 142);
  tell('job_completed', 'b', 141.2);
  tell('job_completed', 'a', 160);
  expect(await value('lattice_job_seconds_count{status="completed"}')).toBe(2);
  expect(await value('lattice_job_seconds_sum{status="completed"}')).toBeCloseTo(20.2);
  expect(await value('lattice_job_seconds_bucket{le="0.25",status="completed"}')).toBe(1);
  expect(await value('lattice_job_seconds_count{status="failed"}')).toBeUndefined();
  expect(await value('lattice_jobs_ended_total{status="completed"}')).toBe(2);
  expect(await value('lattice_jobs_ended_total{status="failed"}')).toBe(1);
});

test('jobs, their images and their store are read when asked for', async () => {
  const { jobs } = idleJobs();
  let pending = 3;
  const stats = { ...new FakeDetector().stats(), inHandAsync: 20 };
  addJobMetrics(metrics, {
    ...jobs,
    service: {
      ...jobs.service,
      counts: () => Promise.resolve({ pending, running: 1, queuedImages: 4_400 }),
      oldestPendingAt: () => Promise.resolve(Date.now() / 1_000 - 90),
    },
    store: { keptJobs: () => Promise.resolve(3) },
    detector: { stats: () => stats },
    storeFigures: () => ({
      size: { used: 4_096, file: 8_192 },
      isFull: true,
      removed: { age: 5, bound: 0, request: 1 },
    }),
  });
  expect(await value('lattice_jobs{status="pending"}')).toBe(3);
  pending = 0;
  expect(await value('lattice_jobs{status="pending"}')).toBe(0);
  expect(await value('lattice_job_images')).toBe(4_400);
  expect(await value('lattice_images_now{state="waiting"}')).toBe(4_380);
  expect(await value('lattice_images_now{state="in_hand"}')).toBe(20);
  expect(await value('lattice_oldest_job_seconds')).toBeGreaterThanOrEqual(90);
  expect(await value('lattice_store_bytes{part="used"}')).toBe(4_096);
  expect(await value('lattice_store_full')).toBe(1);
  expect(await value('lattice_kept_jobs')).toBe(3);
  expect(await value('lattice_jobs_removed_total{reason="age"}')).toBe(5);
});

test('the oldest job has waited for no time where there is none', async () => {
  addJobMetrics(metrics, idleJobs().jobs);
  expect(await value('lattice_oldest_job_seconds')).toBe(0);
});

test('images that took over a stored result are counted', async () => {
  const count = reusedCounter(metrics);
  expect(await value('lattice_images_reused_total')).toBe(0);
  count(3);
  count(2);
  expect(await value('lattice_images_reused_total')).toBe(5);
});
