/** The ways from files to pixels that a core has, and which of them it may use. */
import { describe, expect, test } from 'vitest';
import { openCore } from '../../src/native/core.js';
import { coreOptions, openTestCore, taskFor, TINY_MODEL } from './open-test-core.js';

const cpu = { device: 'cpu' } as const;

describe('decode routes', () => {
  test('without GPUs the cores are the only way, and count what they decode', async () => {
    const { core, model } = await openTestCore(cpu);
    await core.run(taskFor(model, { path: 'street.jpg' }));
    const { routes, missing } = core.decodeRoutes();
    expect(routes).toEqual([
      {
        name: 'cpu',
        resource: 'cpu',
        decoded: 1,
        refused: 0,
        megapixelMs: expect.any(Number) as number,
        lost: false,
      },
    ]);
    expect(missing).toEqual([]);
    await core.close();
    expect(() => core.decodeRoutes()).toThrow();
  });

  test('an image goes by an allowed way', async () => {
    const { core, model } = await openTestCore({
      ...cpu,
      fastDecode: 0.5,
      decodeRoutes: ['cpu'],
    });
    await core.run(taskFor(model, { path: 'street.jpg' }));
    expect(core.decodeRoutes().routes.map(({ name, decoded }) => [name, decoded])).toEqual([
      ['cpu', 1],
    ]);
    await core.close();
  });

  test('where none of the allowed ways is there, models say so', async () => {
    const core = openCore(coreOptions({ ...cpu, decodeRoutes: ['nvjpeg hardware'] }));
    await expect(core.loadModel(TINY_MODEL)).rejects.toMatchObject({ code: 'gpu_unavailable' });
    await core.close();
  });

  test('names must be strings', () => {
    const wrong = { ...cpu, decodeRoutes: ['cpu', 7] as unknown as string[] };
    expect(() => openCore(coreOptions(wrong))).toThrow(/decodeRoutes must be an array of strings/);
  });
});
