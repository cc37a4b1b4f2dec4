import { describe, expect, it } from 'vitest';
import { onlyVisibleGpu } from '../../../src/settings/config.js';
import { workerDevices } from '../../../src/clusters/processes/worker-devices.js';
import { usableGpu } from '../../support/simulated-gpus.js';

const usable = (...indices: number[]) => ({
  gpus: indices.map((index) => usableGpu(index)),
  missing: indices.length === 0 ? 'no GPU' : null,
});
const never = () => {
  throw new Error('no need to look for GPUs');
};
const ids = (devices: { workerId: string }[]) => devices.map(({ workerId }) => workerId);

describe('worker processes', () => {
  it.each([
    ['the CPU alone', { device: 'cpu', gpus: 'auto' } as const, never],
    ['no GPU', { device: 'auto', gpus: 'auto' } as const, () => usable()],
    ['one GPU', { device: 'auto', gpus: 'auto' } as const, () => usable(0)],
  ])('are none for %s', (_what, settings, look) => {
    expect(workerDevices(settings, look)).toEqual([]);
  });

  it('are one per GPU where there are several, each with its own GPU', () => {
    const devices = workerDevices({ device: 'auto', gpus: 'auto' }, () => usable(0, 1));
    expect(ids(devices)).toEqual(['gpu-0', 'gpu-1']);
    expect(devices.map(({ env }) => env.LATTICE_DEVICE)).toEqual(['cuda', 'cuda']);
  });

  it('keep the ordinals of CUDA where an unusable GPU is between the others', () => {
    const devices = workerDevices({ device: 'auto', gpus: 'auto' }, () => usable(0, 2));
    expect(ids(devices)).toEqual(['gpu-0', 'gpu-2']);
  });

  it('are one per listed device', () => {
    expect(ids(workerDevices({ device: 'cuda', gpus: '0,2' }, never))).toEqual(['gpu-0', 'gpu-2']);
    expect(ids(workerDevices({ device: 'auto', gpus: '2' }, never))).toEqual(['gpu-2']);
    const [first, second] = workerDevices({ device: 'auto', gpus: 'cpu,cpu' }, never);
    expect([first!.workerId, second!.workerId]).toEqual(['cpu-0', 'cpu-1']);
    expect(first!.env).toEqual({ LATTICE_DEVICE: 'cpu', CUDA_VISIBLE_DEVICES: '' });
  });

  it.each([
    [{ device: 'cpu', gpus: '0,1' } as const, 'LATTICE_DEVICE to auto or cuda'],
    [{ device: 'cuda', gpus: 'cpu,cpu' } as const, 'LATTICE_DEVICE to auto or cpu'],
  ])('contradiction %o is refused', (settings, advice) => {
    expect(() => workerDevices(settings, never)).toThrow(advice);
  });
});

it.each([
  [2, {}, '2'],
  [1, { CUDA_VISIBLE_DEVICES: '4,6' }, '6'],
  [0, { CUDA_VISIBLE_DEVICES: 'MIG-1, MIG-2' }, 'MIG-1'],
  [2, { CUDA_VISIBLE_DEVICES: '4,6' }, ''],
  [0, { CUDA_VISIBLE_DEVICES: '' }, ''],
])('GPU %i of a process with %o is %j to its child', (ordinal, environment, expected) => {
  expect(onlyVisibleGpu(ordinal, environment)).toBe(expected);
});
