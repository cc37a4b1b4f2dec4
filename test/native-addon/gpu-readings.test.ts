import { expect, test } from 'vitest';
import { gpuReadings, gpus } from '../../src/native/gpus.js';
import { until } from '../support/worker-rig.js';

const { missing, gpus: usable } = gpus();

test('GPUs that a core can use are read, or it is said what is missing', async () => {
  const started = performance.now();
  gpuReadings();
  expect(performance.now() - started).toBeLessThan(500);
  if (missing !== null) {
    await until(() => gpuReadings().missing === missing, 'the reason that gpus() gives');
    expect(gpuReadings().gpus).toEqual([]);
    return;
  }
  await until(() => gpuReadings().gpus.some(({ ageMs }) => ageMs !== null), 'the first figures');
  const { gpus: readings } = gpuReadings();
  expect(readings).toMatchObject(usable.slice(0, 1));
  for (const { memoryUsed, memoryTotal, temperature } of readings) {
    expect(memoryUsed).toBeLessThan(memoryTotal!);
    expect(temperature).toBeGreaterThan(0);
  }
});

test('asking costs little', () => {
  gpuReadings();
  const started = performance.now();
  for (let i = 0; i < 1_000; i += 1) gpuReadings();
  expect(performance.now() - started).toBeLessThan(1_000);
});
