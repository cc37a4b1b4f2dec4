/** Device and precision, for every kind of machine. */
import { describe, expect, it } from 'vitest';
import { chooseDevice, explainChoice } from '../../../src/execution/here/compute-choice.js';
import { usableGpu } from '../../support/simulated-gpus.js';

const none = {
  gpus: [],
  missing: 'No NVIDIA driver was found. Install the driver.',
};
const one = { gpus: [usableGpu(0, 'NVIDIA L4')], missing: null };
const settings = (
  device: 'auto' | 'cpu' | 'cuda',
  precision: 'auto' | 'f32' | 'bf16' = 'auto',
) => ({
  device,
  precision,
});

describe('the device', () => {
  it.each([
    [settings('cpu'), one, { device: 'cpu', gpus: 0, reason: 'asked for' }],
    [settings('auto'), one, { device: 'cuda', gpus: 1, reason: 'found NVIDIA L4' }],
    [settings('cuda'), one, { device: 'cuda', gpus: 1, reason: 'asked for' }],
    [settings('auto'), none, { device: 'cpu', gpus: 0, reason: 'No NVIDIA driver was found' }],
    [
      settings('auto', 'f32'),
      one,
      { device: 'cpu', gpus: 0, reason: "precision f32 is the CPU engine's" },
    ],
  ])('for %o with %o', (wished, gpus, choice) => {
    expect(chooseDevice(wished, gpus)).toEqual(choice);
  });

  it.each([
    [
      settings('cuda'),
      none,
      'LATTICE_DEVICE=cuda, but: No NVIDIA driver was found. Install the driver.',
    ],
    [
      settings('cuda', 'bf16'),
      one,
      "LATTICE_DEVICE=cuda, but: precision bf16 is the CPU engine's.",
    ],
  ])('is refused for %o with %o', (wished, gpus, message) => {
    expect(() => chooseDevice(wished, gpus)).toThrow(
      expect.objectContaining({ code: 'gpu_unavailable', message }),
    );
  });
});

describe('the explanation', () => {
  const cpu = { device: 'cpu' as const, gpus: 0, reason: 'no GPU.' };
  it('says what the engine reports once a model is loaded', () => {
    const loaded = { device: 'CPU', precision: 'bf16' };
    expect(explainChoice(settings('auto'), cpu, loaded, ['amx_bf16'])).toEqual({
      device: 'cpu',
      gpus: 0,
      precision: 'bf16',
      reason: 'cpu: no GPU.; bf16: measured to be the faster, the CPU has amx_bf16',
    });
  });

  it.each([
    [
      'bf16',
      ['amx_bf16', 'avx512_bf16'],
      'measured to be the faster, the CPU has amx_bf16 and avx512_bf16',
    ],
    ['f32', ['avx512_bf16'], 'measured to be the faster, though the CPU has avx512_bf16'],
    ['f32', [], 'the CPU has neither amx_bf16 nor avx512_bf16'],
    ['int8', ['amx_bf16'], 'the model has an 8-bit copy, measured to be the fastest'],
  ])('of %s on a CPU with %o', (precision, features, why) => {
    const { reason } = explainChoice(settings('auto'), cpu, { device: 'CPU', precision }, features);
    expect(reason).toBe(`cpu: no GPU.; ${precision}: ${why}`);
  });

  it('says what is expected before', () => {
    expect(explainChoice(settings('auto'), cpu, null, [])).toMatchObject({
      precision: 'int8 or f32',
    });
    expect(explainChoice(settings('auto'), cpu, null, ['avx512_bf16'])).toMatchObject({
      precision: 'int8, bf16 or f32',
      reason:
        'cpu: no GPU.; int8, bf16 or f32: which is the fastest is measured when a model is loaded',
    });
    expect(explainChoice(settings('auto', 'bf16'), cpu, null, [])).toMatchObject({
      precision: 'bf16',
    });
    const cuda = { device: 'cuda' as const, gpus: 1, reason: 'found NVIDIA L4' };
    expect(explainChoice(settings('auto'), cuda, null, [])).toEqual({
      device: 'cuda',
      gpus: 1,
      precision: 'fp16',
      reason: 'cuda: found NVIDIA L4; fp16: what the GPU engine computes in',
    });
    expect(
      explainChoice(settings('auto'), cuda, { device: 'NVIDIA L4', precision: 'fp16' }, []),
    ).toMatchObject({ device: 'cuda: NVIDIA L4' });
    expect(
      explainChoice(settings('auto'), cuda, { device: 'NVIDIA L4', precision: 'fp32' }, []),
    ).toMatchObject({
      reason:
        'cuda: found NVIDIA L4; fp32: the network runs as a whole, because its head is not recognised',
    });
  });
});
