/** Who decodes the images of a core. */
import { describe, expect, test } from 'vitest';
import { coreOptions, openTestCore, taskFor } from './open-test-core.js';
import { openCore } from '../../src/native/core.js';

const cpu = { device: 'cpu' } as const;

describe('decode statistics', () => {
  test('a core without a GPU counts what the CPU decodes', async () => {
    const { core, model } = await openTestCore(cpu);
    await core.run(taskFor(model, { path: 'street.jpg' }));
    expect(core.decodeStats()).toEqual({ cpu: 1, hardware: 0, retries: 0, hardwareMissing: null });
    await core.close();
    expect(() => core.decodeStats()).toThrow();
  });

  test('whether the hardware decodes is a boolean', () => {
    const wrong = { ...cpu, hardwareDecode: 'no' as unknown as boolean };
    expect(() => openCore(coreOptions(wrong))).toThrow(/hardwareDecode must be a boolean/);
  });
});
