import { afterEach, expect, test, vi } from 'vitest';
import { aged, createGpuReadings } from '../../src/execution/gpu-readings.js';
import type { ModelDevice } from '../../src/models/loaded-model.js';
import { simulatedGpu } from '../support/simulated-gpus.js';

const ignore = () => undefined;
const warn = vi.fn();
const logger = { debug: ignore, info: ignore, warn, error: ignore };
const noDevices = () => [];
const device = (index: number, state: ModelDevice['state']): ModelDevice => ({
  index,
  name: 'Simulated GPU',
  state,
});

afterEach(() => {
  warn.mockReset();
  vi.useRealTimers();
});

test('the addon is asked four times a second at most', () => {
  vi.useFakeTimers();
  let temperature = 40;
  const read = vi.fn(() => ({ gpus: [simulatedGpu(0, { temperature })], missing: null }));
  const readings = createGpuReadings({ read, devices: noDevices, logger });
  for (let i = 0; i < 1_000; i += 1) expect(readings()[0]!.temperature).toBe(40);
  expect(read).toHaveBeenCalledTimes(1);
  temperature = 50;
  vi.advanceTimersByTime(250);
  expect(readings()[0]!.temperature).toBe(50);
  expect(read).toHaveBeenCalledTimes(2);
});

test('a GPU is as bad as the worst that a loaded model found, and lost for good', () => {
  vi.useFakeTimers();
  let devices: ModelDevice[] | null = [];
  const readings = createGpuReadings({
    read: () => ({ gpus: [simulatedGpu(0), simulatedGpu(1)], missing: null }),
    devices: () => devices,
    logger,
  });
  const statesWith = (now: ModelDevice[] | null) => {
    devices = now;
    vi.advanceTimersByTime(250);
    return readings().map(({ state }) => state);
  };
  expect(statesWith([])).toEqual(['ok', 'ok']);
  expect(statesWith([device(1, 'failed_check'), device(0, 'ok'), device(1, 'ok')])).toEqual([
    'ok',
    'failed_check',
  ]);
  expect(statesWith([device(0, 'ok'), device(1, 'ok')])).toEqual(['ok', 'ok']);
  expect(statesWith([device(0, 'lost'), device(1, 'failed_check')])).toEqual([
    'lost',
    'failed_check',
  ]);
  // Once the core closes nobody can tell any more.
  expect(statesWith(null)).toEqual(['lost', 'failed_check']);
  // Every model was unloaded, the GPU is as lost as before.
  expect(statesWith([])).toEqual(['lost', 'ok']);
});

test('why there are no GPUs is logged, each reason once, and not before the first look is over', () => {
  vi.useFakeTimers();
  let missing: string | null = 'Not looked yet.';
  const readings = createGpuReadings({
    read: () => ({ gpus: [], missing }),
    devices: noDevices,
    logger,
  });
  const askFor = (seconds: number) => {
    for (let i = 0; i < seconds; i += 1) {
      readings();
      vi.advanceTimersByTime(1_000);
    }
  };
  askFor(2);
  missing = null;
  askFor(10);
  expect(warn).not.toHaveBeenCalled();
  for (const reason of ['The library is missing.', null, 'The library is missing.', 'It hangs.']) {
    missing = reason;
    askFor(10);
  }
  expect(warn.mock.calls).toEqual(
    ['The library is missing.', 'It hangs.'].map((reason) => [
      { reason },
      'status and metrics show no GPU',
    ]),
  );
});

test('figures that were told some time ago are older by that', () => {
  const told = [simulatedGpu(0, { ageMs: 400 }), simulatedGpu(1, { ageMs: null })];
  expect(aged(told, 100).map(({ ageMs }) => ageMs)).toEqual([500, null]);
  expect(told[0]!.ageMs).toBe(400);
});
