import { afterEach, expect, test, vi } from 'vitest';
import { aged, createGpuReadings } from '../../src/inference/gpu-readings.js';
import { simulatedGpu } from '../support/simulated-gpus.js';

afterEach(() => {
  vi.useRealTimers();
});

test('the addon is asked four times a second at most', () => {
  vi.useFakeTimers();
  let temperature = 40;
  const read = vi.fn(() => ({ gpus: [simulatedGpu(0, { temperature })], missing: null }));
  const readings = createGpuReadings(read);
  for (let i = 0; i < 1_000; i += 1) expect(readings()[0]!.temperature).toBe(40);
  expect(read).toHaveBeenCalledTimes(1);
  temperature = 50;
  vi.advanceTimersByTime(250);
  expect(readings()[0]!.temperature).toBe(50);
  expect(read).toHaveBeenCalledTimes(2);
});

test('figures that were told some time ago are older by that', () => {
  const told = [simulatedGpu(0, { ageMs: 400 }), simulatedGpu(1, { ageMs: null })];
  expect(aged(told, 100).map(({ ageMs }) => ageMs)).toEqual([500, null]);
  expect(told[0]!.ageMs).toBe(400);
});
