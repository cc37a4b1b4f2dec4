import { afterEach, expect, test, vi } from 'vitest';
import { aged, createGpuReadings } from '../../src/execution/gpu-readings.js';
import type { GpuState } from '../../src/api/gpu-reading.js';
import { simulatedGpu } from '../support/simulated-gpus.js';

const ignore = () => undefined;
const warn = vi.fn();
const logger = { debug: ignore, info: ignore, warn, error: ignore };
const state = (): GpuState => 'ok';

afterEach(() => {
  warn.mockReset();
  vi.useRealTimers();
});

test('the addon is called at most four times per second', () => {
  vi.useFakeTimers();
  let temperature = 40;
  const read = vi.fn(() => ({ gpus: [simulatedGpu(0, { temperature })], missing: null }));
  const readings = createGpuReadings({ read, state, logger });
  for (let i = 0; i < 1_000; i += 1) expect(readings()[0]!.temperature).toBe(40);
  expect(read).toHaveBeenCalledTimes(1);
  temperature = 50;
  vi.advanceTimersByTime(250);
  expect(readings()[0]!.temperature).toBe(50);
  expect(read).toHaveBeenCalledTimes(2);
});

test('each reading has the present state of the process', () => {
  vi.useFakeTimers();
  let now: GpuState = 'ok';
  const read = () => ({ gpus: [simulatedGpu(0)], missing: null });
  const readings = createGpuReadings({ read, state: () => now, logger });
  for (now of ['ok', 'failed_check', 'ok', 'lost'] as const) {
    vi.advanceTimersByTime(250);
    expect(readings()[0]!.state).toBe(now);
  }
});

test('the reason why there are no GPUs is logged once, after the first reading', () => {
  vi.useFakeTimers();
  let missing: string | null = 'Not looked yet.';
  const readings = createGpuReadings({
    read: () => ({ gpus: [], missing }),
    state,
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

test('the age of reported figures grows with time', () => {
  const told = [simulatedGpu(0, { ageMs: 400 }), simulatedGpu(1, { ageMs: null })];
  expect(aged(told, 100).map(({ ageMs }) => ageMs)).toEqual([500, null]);
  expect(told[0]!.ageMs).toBe(400);
});
