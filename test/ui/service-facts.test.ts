import { expect, test } from 'vitest';
import {
  GPU_HEADINGS,
  MODEL_HEADINGS,
  NODE_HEADINGS,
  WORKER_HEADINGS,
  clusterFacts,
  gpuRows,
  modelRows,
  nodeRows,
  workerRows,
} from '../../src/ui/service-facts.js';
import type { ClusterStatus, Model } from '../../src/client/records.js';
import { compose, get } from '../support/composed-app.js';
import { GpuWorker, lostGpu, reportOf, simulatedGpu } from '../support/simulated-gpus.js';

const workers = () =>
  reportOf([
    new GpuWorker('worker-1', 'node-1', [simulatedGpu(0, { slowedBy: ['power_cap'] }), lostGpu(1)]),
  ]);
const app = compose({}, { workers });
const status = (await get(app, '/v1/cluster/status')).body as ClusterStatus;
const { models } = (await get(app, '/v1/models')).body as { models: Model[] };

test('the engine is shown with the reason of its choice', () => {
  const facts = new Map(clusterFacts(status));
  expect(facts.get('Device')).toBe('cpu');
  expect(facts.get('CPUs free')).toMatch(/^\d+ of \d+$/);
  expect(facts.get('Reason of device and precision')).toBe('scripted');
});

test('every row has a cell for each heading', () => {
  for (const [headings, rows] of [
    [NODE_HEADINGS, nodeRows(status)],
    [WORKER_HEADINGS, workerRows(status)],
    [GPU_HEADINGS, gpuRows(status)],
    [MODEL_HEADINGS, modelRows(models)],
  ] as const) {
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(row).toHaveLength(headings.length);
  }
});

test('a GPU shows what it does, a lost one that nothing is known', () => {
  const [well, lost] = gpuRows(status);
  expect(well).toEqual([
    '0: Simulated GPU',
    'node-1',
    'ok',
    '50 %',
    '1024 MiB of 81920 MiB',
    '40 °C',
    '301 W',
    'slowed by power_cap',
  ]);
  expect(lost).toEqual([
    '1: Simulated GPU',
    'node-1',
    'lost',
    'not known',
    'not known',
    'not known',
    'not known',
    'The GPU is lost.',
  ]);
});

test('a model that cannot be used says why', () => {
  const refused = { ...models[0]!, state: 'refused' as const, reason: 'Broken file.', input: null };
  const [row] = modelRows([{ ...refused, is_default: true, memory_bytes: null }]);
  expect(row![0]).toBe(`${refused.name} (default)`);
  expect(row).toContain('refused');
  expect(row!.at(-1)).toContain('Broken file.');
});
