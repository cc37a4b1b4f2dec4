import { afterEach, beforeEach, expect, test } from 'vitest';
import { Metrics } from '../../src/service/metrics.js';
import { FakeDetector } from '../support/fake-detector.js';
import { idleSources } from '../support/idle-sources.js';
import { seriesValue } from '../support/metric-series.js';

let metrics: Metrics;
beforeEach(() => {
  metrics = new Metrics({ version: '1.2.3' });
});
afterEach(() => {
  metrics.close();
});

const value = (series: string) => seriesValue(metrics, series);

test('gauges are read when asked for', async () => {
  let pending = 3;
  let ready = true;
  metrics.watch({
    ready: () => Promise.resolve(ready),
    jobs: () => Promise.resolve({ pending, running: 1 }),
    jobImages: () => Promise.resolve(4_400),
    images: () => ({ waiting: 4_380, in_hand: 20 }),
    cpuWaitRatio: () => 0.9,
    oldestJobSeconds: () => Promise.resolve(90.5),
    webhooksWaiting: () => Promise.resolve(2),
    watchesWaiting: () => [{ labels: { watch: 'gate' }, value: 5 }],
    watchesSkipped: () => [],
    shadowShares: () => [{ labels: { alias: 'production.pt' }, value: 0.25 }],
    statistics: () => ({
      ...new FakeDetector().stats(),
      queuedAsync: 12,
      heldBytes: 96_000_000,
      hangingFolders: 1,
    }),
    storeBytes: () => ({ used: 4_096, file: 8_192 }),
    storeFull: () => true,
    drawnBytes: () => [],
    keptJobs: () => Promise.resolve(3),
    removedJobs: () => ({ age: 5, bound: 0, request: 1 }),
    workers: () => ({ ready: 2 }),
    workerEvents: () => ({ lost: 1, requeued: 7, stale: 0 }),
    keyUse: () => Promise.resolve([]),
    gpus: () => [],
  });
  expect(await value('lattice_ready')).toBe(1);
  ready = false;
  expect(await value('lattice_ready')).toBe(0);
  expect(await value('lattice_jobs{status="pending"}')).toBe(3);
  pending = 0;
  expect(await value('lattice_jobs{status="pending"}')).toBe(0);
  expect(await value('lattice_job_images')).toBe(4_400);
  expect(await value('lattice_images_now{state="waiting"}')).toBe(4_380);
  expect(await value('lattice_images_now{state="in_hand"}')).toBe(20);
  expect(await value('lattice_cpu_wait_ratio')).toBe(0.9);
  expect(await value('lattice_watch_waiting{watch="gate"}')).toBe(5);
  expect(await value('lattice_shadow_agreement{alias="production.pt"}')).toBe(0.25);
  expect(await value('lattice_oldest_job_seconds')).toBe(90.5);
  expect(await value('lattice_webhooks_waiting')).toBe(2);
  expect(await value('lattice_queue_images{class="async"}')).toBe(12);
  expect(await value('lattice_queue_images{class="sync"}')).toBe(0);
  expect(await value('lattice_held_pixel_bytes{class="async"}')).toBe(96_000_000);
  expect(await value('lattice_image_folders{state="hanging"}')).toBe(1);
  expect(await value('lattice_store_bytes{part="used"}')).toBe(4_096);
  expect(await value('lattice_store_full')).toBe(1);
  expect(await metrics.render()).not.toContain('lattice_drawn_copies_bytes');
  expect(await value('lattice_kept_jobs')).toBe(3);
  expect(await value('lattice_jobs_removed_total{reason="age"}')).toBe(5);
  expect(await value('lattice_workers{state="ready"}')).toBe(2);
  expect(await value('lattice_worker_events_total{event="requeued"}')).toBe(7);
  expect(await metrics.render()).toContain('# TYPE lattice_worker_events_total counter\n');
});

test('two who ask at a time get the same count', async () => {
  metrics.watch({
    ...idleSources(),
    jobs: async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return { pending: 3 };
    },
    webhooksWaiting: async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return 5;
    },
    workerEvents: () => ({ lost: 2 }),
  });
  for (const text of await Promise.all([metrics.render(), metrics.render()])) {
    expect(text).toContain('lattice_jobs{status="pending"} 3\n');
    expect(text).toContain('lattice_webhooks_waiting 5\n');
    expect(text).toContain('lattice_worker_events_total{event="lost"} 2\n');
  }
});

test('a source that fails or never answers is left out and hides nothing else', async () => {
  metrics.watch({
    ...idleSources(),
    jobs: () => Promise.reject(new Error('store closed')),
    statistics: () => {
      throw new Error('closed');
    },
    oldestJobSeconds: () => new Promise(() => undefined),
    webhooksWaiting: () => Promise.reject(new Error('store closed')),
  });
  metrics.setStreamClients(4);
  const text = await metrics.render();
  expect(text).toContain('lattice_ws_clients 4');
  expect(text).toContain('lattice_ready 1');
  for (const name of ['jobs', 'queue_images', 'oldest_job_seconds', 'webhooks_waiting']) {
    expect(text).not.toMatch(new RegExp(`^lattice_${name}[{ ]`, 'm'));
  }
});
