import { describe, expect, it } from 'vitest';
import { loadAddon } from '../../src/native/addon-loader.js';
import { gpus } from '../../src/native/gpus.js';
import { gpuLimits } from '../../src/native/gpu-limits.js';

describe('the limits of a GPU', () => {
  it('are refused with the reason where none can be used', async (context) => {
    const { missing, names } = gpus();
    if (missing === null) return context.skip(`This machine has ${names.join(', ')}.`);
    const start = performance.now();
    await expect(gpuLimits(1, 60)).rejects.toMatchObject({
      code: 'gpu_unavailable',
      message: missing,
    });
    expect(performance.now() - start).toBeLessThan(2_000);
  });

  it('need numbers', () => {
    const addon = loadAddon() as unknown as { gpuLimits(...values: unknown[]): unknown };
    expect(() => addon.gpuLimits()).toThrow(TypeError);
    expect(() => addon.gpuLimits(1, 'long')).toThrow(TypeError);
  });
});
