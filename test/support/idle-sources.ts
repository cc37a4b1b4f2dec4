/** Sources of the metrics of a service that has nothing to do. */
import type { MetricSources } from '../../src/service/source-metrics.js';
import { FakeDetector } from './fake-detector.js';

export const idleSources = (): MetricSources => ({
  ready: () => Promise.resolve(true),
  jobs: () => Promise.resolve({ pending: 0, running: 0 }),
  jobImages: () => Promise.resolve(0),
  images: () => ({ waiting: 0, in_hand: 0 }),
  cpuWaitRatio: () => 0,
  oldestJobSeconds: () => Promise.resolve(0),
  webhooksWaiting: () => Promise.resolve(0),
  watchesWaiting: () => [],
  watchesSkipped: () => [],
  shadowShares: () => [{ labels: { alias: 'depot.pt' }, value: 1 }],
  statistics: () => new FakeDetector().stats(),
  storeBytes: () => ({ used: 0, file: 0 }),
  storeFull: () => false,
  drawnBytes: () => [],
  keptJobs: () => Promise.resolve(0),
  removedJobs: () => ({ age: 0, bound: 0, request: 0 }),
  workers: () => ({ ready: 1 }),
  workerEvents: () => ({ lost: 0, requeued: 0, stale: 0 }),
  keyUse: () => Promise.resolve([{ owner: 'a', name: 'A', isAdmin: false, quotas: [] }]),
  gpus: () => [],
});
