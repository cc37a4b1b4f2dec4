import { expect, test } from 'vitest';
import { gpusOf } from '../../src/execution/worker-stats.js';
import type { GpuReading } from '../../src/api/schemas/gpu-reading.js';
import { GpuWorker, reportOf, simulatedGpu } from '../support/simulated-gpus.js';
import { SimulatedWorker } from '../support/simulated-worker.js';

test('the GPUs of all workers are named with their node, in the order of the workers', () => {
  const workers = [
    new GpuWorker('a', 'node-1', [simulatedGpu(0), simulatedGpu(1)]),
    new GpuWorker('b', 'node-2', [simulatedGpu(0)]),
  ];
  expect(gpusOf(reportOf(workers)).map(({ nodeId, uuid }) => [nodeId, uuid])).toEqual([
    ['node-1', 'GPU-0'],
    ['node-1', 'GPU-1'],
    ['node-2', 'GPU-0'],
  ]);
});

test('a GPU that workers share is listed once, with its latest reading', () => {
  const seen = (sampleAgeSeconds: number | null, temperatureCelsius: number) => [
    simulatedGpu(0, { sampleAgeSeconds, temperatureCelsius }),
  ];
  const workers = [
    new GpuWorker('a', 'node-1', seen(null, 1)),
    new GpuWorker('b', 'node-1', seen(300, 2)),
    new GpuWorker('c', 'node-1', seen(100, 3)),
    new GpuWorker('d', 'node-1', seen(200, 4)),
  ];
  expect(gpusOf(reportOf(workers))).toMatchObject([
    { temperatureCelsius: 3, sampleAgeSeconds: 100 },
  ]);
});

test('the worst state that a worker reports of a shared GPU is kept', () => {
  const found = (state: GpuReading['state'], sampleAgeSeconds: number) => [
    simulatedGpu(0, { state, sampleAgeSeconds }),
  ];
  const workers = [
    new GpuWorker('a', 'node-1', found('failed_check', 300)),
    new GpuWorker('b', 'node-1', found('lost', 200)),
    new GpuWorker('c', 'node-1', found('ok', 100)),
  ];
  expect(gpusOf(reportOf(workers))).toMatchObject([{ state: 'lost', sampleAgeSeconds: 100 }]);
  expect(gpusOf(reportOf(workers.slice(2)))).toMatchObject([{ state: 'ok' }]);
});

test('workers on the CPU have none', () => {
  expect(gpusOf([{ worker: new SimulatedWorker('a') }])).toEqual([]);
  expect(gpusOf([])).toEqual([]);
});
