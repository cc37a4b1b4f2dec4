import { afterEach, beforeEach, expect, test } from 'vitest';
import type { NodeGpu } from '../../src/api/gpu-reading.js';
import { gpusOf } from '../../src/execution/worker-stats.js';
import { Metrics } from '../../src/service/metrics.js';
import { idleSources } from '../support/idle-sources.js';
import { GpuWorker, lostGpu, reportOf, simulatedGpu } from '../support/simulated-gpus.js';

let metrics: Metrics;
let read: () => readonly NodeGpu[];
beforeEach(() => {
  metrics = new Metrics({ version: '1.2.3' });
  metrics.watch({
    ...idleSources(),
    jobs: () => Promise.resolve({ pending: 3 }),
    gpus: () => read(),
  });
});
afterEach(() => {
  metrics.close();
});

const on = (node: string, ...readings: ConstructorParameters<typeof GpuWorker>[2]) =>
  gpusOf(reportOf([new GpuWorker('worker-1', node, readings)]));

/** Series of the GPUs with their values. */
async function series(): Promise<Record<string, number>> {
  const lines = (await metrics.render()).split('\n');
  return Object.fromEntries(
    lines
      .filter((line) => line.startsWith('lattice_gpu'))
      .map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1))] as const;
      }),
  );
}

test('a service without GPUs has no such metric', async () => {
  read = () => [];
  expect(await metrics.render()).not.toContain('lattice_gpu');
});

test('each GPU has its figures, in base units', async () => {
  read = () =>
    on(
      'node-1',
      simulatedGpu(0),
      simulatedGpu(1, { slowedBy: ['thermal'], state: 'failed_check' }),
    );
  const first = '{node="node-1",gpu="0",uuid="GPU-0"}';
  const second = '{node="node-1",gpu="1",uuid="GPU-1"}';
  expect(await series()).toMatchObject({
    [`lattice_gpu_memory_total_bytes${first}`]: 80 * 2 ** 30,
    [`lattice_gpu_memory_used_bytes${first}`]: 2 ** 30,
    [`lattice_gpu_memory_used_bytes${second}`]: 2 * 2 ** 30,
    [`lattice_gpu_utilisation_ratio${first}`]: 0.5,
    [`lattice_gpu_temperature_celsius${second}`]: 41,
    [`lattice_gpu_power_watts${first}`]: 300.5,
    [`lattice_gpu_power_limit_watts${first}`]: 700,
    [`lattice_gpu_sm_clock_hertz${first}`]: 1.98e9,
    [`lattice_gpu_uncorrected_memory_errors_total${first}`]: 0,
    [`lattice_gpu_slowdown_reasons${first}`]: 0,
    [`lattice_gpu_slowdown_reasons${second}`]: 1,
    [`lattice_gpu_sample_age_seconds${first}`]: 0.4,
    [`lattice_gpu_usable${first}`]: 1,
    [`lattice_gpu_usable${second}`]: 0,
    [`lattice_gpu_up${first}`]: 1,
  });
  const text = await metrics.render();
  for (const name of new Set(Object.keys(await series()).map((key) => key.split('{')[0]!))) {
    expect(text).toMatch(new RegExp(`^# HELP ${name} .+\\.$`, 'm'));
  }
});

test('memory errors are a counter with the total of the driver, however often it is read', async () => {
  read = () => on('node-1', simulatedGpu(0, { uncorrectedMemoryErrors: 3 }));
  const name = 'lattice_gpu_uncorrected_memory_errors_total';
  for (let i = 0; i < 3; i += 1) {
    expect(await series()).toHaveProperty([`${name}{node="node-1",gpu="0",uuid="GPU-0"}`], 3);
  }
  expect(await metrics.render()).toContain(`# TYPE ${name} counter`);
});

test('what is not known is left out, and a GPU that went is gone', async () => {
  read = () => on('node-1', lostGpu(0), simulatedGpu(1));
  const lost = '{node="node-1",gpu="0",uuid="GPU-0"}';
  expect(await series()).toMatchObject({ [`lattice_gpu_up${lost}`]: 0 });
  expect(await series()).not.toHaveProperty([`lattice_gpu_memory_used_bytes${lost}`]);
  read = () => on('node-1', simulatedGpu(1));
  expect(Object.keys(await series()).some((key) => key.includes('GPU-0'))).toBe(false);
});

test('GPUs that cannot be read hide nothing else', async () => {
  read = () => {
    throw new Error('closed');
  };
  expect(await metrics.render()).toContain('lattice_jobs{status="pending"} 3');
});
