import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startGpuReadings } from '../../../src/execution/here/gpu-readings.js';
import type { GpuState } from '../../../src/api/schemas/gpu-reading.js';
import { UNKNOWN_FIGURES } from '../../support/simulated-gpus.js';
import { parseReading, type SmiReading } from '../../../src/execution/here/nvidia-smi.js';

const gpu = {
  index: 1,
  name: 'NVIDIA H100 80GB HBM3',
  uuid: 'GPU-1',
  busId: '0000:17:00.0',
  numaNode: 0,
  memoryTotal: 85e9,
};
const told = (temperature: number) =>
  parseReading(
    `81559, 19818, 479, 100, ${temperature}, 631.95, 700.00, 1980, 0, Disabled, 0x0000000000000000`,
  );

let state: GpuState;
let closed: boolean;
const read = vi.fn<() => Promise<SmiReading>>();
const start = () => startGpuReadings({ gpu, read, state: () => state, isClosed: () => closed });

beforeEach(() => {
  vi.useFakeTimers();
  state = 'ok';
  closed = false;
  read.mockReset();
  read.mockResolvedValue(told(40));
});
afterEach(() => {
  vi.useRealTimers();
});

test('before the first answer only the GPU is known', () => {
  read.mockReturnValue(new Promise(() => undefined));
  expect(start()()).toEqual([
    {
      index: gpu.index,
      name: gpu.name,
      uuid: gpu.uuid,
      busId: gpu.busId,
      numaNode: gpu.numaNode,
      memoryTotalBytes: 85e9,
      state: 'ok',
      ...UNKNOWN_FIGURES,
      slowedBy: [],
      sampleAgeSeconds: null,
      reason: 'nvidia-smi has not answered yet.',
    },
  ]);
});

test('figures are read every 2 s, and a look at them reads nothing', async () => {
  const readings = start();
  await vi.advanceTimersByTimeAsync(0);
  for (let i = 0; i < 1_000; i += 1) {
    expect(readings()).toMatchObject([
      { temperatureCelsius: 40, sampleAgeSeconds: 0, reason: null },
    ]);
  }
  expect(read).toHaveBeenCalledTimes(1);
  read.mockResolvedValue(told(50));
  await vi.advanceTimersByTimeAsync(1_999);
  expect(readings()).toMatchObject([{ temperatureCelsius: 40, sampleAgeSeconds: 1.999 }]);
  await vi.advanceTimersByTimeAsync(1);
  expect(readings()).toMatchObject([{ temperatureCelsius: 50, sampleAgeSeconds: 0 }]);
});

test('each look has the present state of the process', () => {
  const readings = start();
  for (state of ['ok', 'failed_check', 'ok', 'lost'] as const) {
    expect(readings()[0]!.state).toBe(state);
  }
});

test('readings do not overlap: one that hangs leaves the last figures, their age and a reason', async () => {
  const readings = start();
  await vi.advanceTimersByTimeAsync(0);
  let answer: (reading: SmiReading) => void = () => undefined;
  read.mockReturnValue(new Promise((resolve) => (answer = resolve)));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(read).toHaveBeenCalledTimes(2);
  expect(readings()).toMatchObject([
    {
      temperatureCelsius: 40,
      sampleAgeSeconds: 60,
      reason: 'nvidia-smi has not answered for 58 s; the driver may hang.',
    },
  ]);
  answer(told(70));
  await vi.advanceTimersByTimeAsync(0);
  expect(readings()).toMatchObject([{ temperatureCelsius: 70, sampleAgeSeconds: 0, reason: null }]);
});

test('a failure is a reason, and the last figures stay', async () => {
  const readings = start();
  await vi.advanceTimersByTimeAsync(0);
  read.mockRejectedValue(new Error('nvidia-smi fails: No devices were found'));
  await vi.advanceTimersByTimeAsync(2_000);
  const reason = 'nvidia-smi fails: No devices were found';
  expect(readings()).toMatchObject([{ temperatureCelsius: 40, sampleAgeSeconds: 2, reason }]);
  read.mockResolvedValue(told(60));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(readings()).toMatchObject([{ temperatureCelsius: 60, reason: null }]);
});

test('CUDA tells the memory where nvidia-smi does not', async () => {
  read.mockResolvedValue(parseReading('[N/A]'));
  const readings = start();
  await vi.advanceTimersByTimeAsync(0);
  expect(readings()).toMatchObject([
    { memoryTotalBytes: 85e9, memoryUsedBytes: null, reason: null },
  ]);
});

test('nothing is read after the end', async () => {
  start();
  await vi.advanceTimersByTimeAsync(0);
  closed = true;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(read).toHaveBeenCalledTimes(1);
});
