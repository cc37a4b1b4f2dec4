import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadAddon } from '../../src/native/addon-loader.js';
import {
  RESULT_STRIDE,
  ResultField,
  type NativeCore,
  type NativeModel,
} from '../../src/native/contract.js';
import { openCore } from '../../src/native/core.js';
import {
  codeOf,
  coreOptions,
  openTestCore,
  runAll,
  taskFor,
  TINY_MODEL,
} from './open-test-core.js';

/** The bare addon, without the checks of TypeScript. */
const { Core: BareCore } = loadAddon();
const ignore = () => undefined;
/** Whatever the type says. */
const bad = (value: unknown) => value as never;

describe('options', () => {
  const wrong: [string, unknown][] = [
    ['roots', 'models'],
    ['roots', [7]],
    ['device', 'gpu'],
    ['precision', 'fp8'],
    ['gpuBatches', 8],
    ['gpuBatches', []],
    ['gpuBatches', [8, 1]],
    ['gpuBatches', [1, 64]],
    ['gpuBatches', [1.5]],
    ['threads', 0],
    ['threads', 1.5],
    ['threads', '2'],
    ['maxFileBytes', -1],
    ['maxPixels', Number.NaN],
    ['maxSide', Infinity],
    ['crashMarkerPath', null],
    ['abortOnPathSuffix', 7],
  ];
  it.each(wrong)('%s = %j is a TypeError', (key, value) => {
    const options = { ...coreOptions(), [key]: value };
    expect(() => new BareCore(bad(options), ignore)).toThrow(
      new RegExp(`^options\\.${key} must be`),
    );
  });

  it('must come with a callback, as an object, through new', () => {
    expect(() => new BareCore(coreOptions(), bad('x'))).toThrow(TypeError);
    expect(() => new BareCore(bad(null), ignore)).toThrow(TypeError);
    expect(() => new BareCore(coreOptions(), ignore, bad('x'))).toThrow(TypeError);
    expect(() => {
      (BareCore as unknown as () => void)();
    }).toThrow(TypeError);
  });

  it('that name what is not there give an error of the table', () => {
    expect(() => openCore(coreOptions({ roots: ['/nonexistent'] }))).toThrow(
      expect.objectContaining({ name: 'LatticeError', code: 'image_not_found' }),
    );
    expect(() => openCore(coreOptions({ device: 'cuda' }))).toThrow(
      expect.objectContaining({ code: 'gpu_unavailable' }),
    );
  });
});

describe('tasks', () => {
  let core: NativeCore;
  let model: NativeModel;
  const answered = new Set<number>();
  beforeAll(async () => {
    core = new BareCore(coreOptions(), (meta, boxes) => {
      for (const index of boxes.keys()) answered.add(meta[index * RESULT_STRIDE + ResultField.id]!);
    });
    model = await core.loadModel(TINY_MODEL);
  });
  afterAll(() => core.close());

  const pixels = { data: new Uint8Array(12), width: 2, height: 2 };
  const wrong: [string, unknown][] = [
    ['id', 0],
    ['id', 2 ** 53],
    ['id', 1.5],
    ['id', '1'],
    ['modelId', -1],
    ['path', 7],
    ['path', undefined],
    ['kind', 'soon'],
    ['priority', 'high'],
    ['deadlineMs', -1],
    ['confidence', 1.01],
    ['confidence', Number.NaN],
    ['iou', -0.1],
    ['maxDetections', 1.5],
    ['classIds', 'car'],
    ['classIds', ['car']],
  ];
  it.each(wrong)('%s = %j is a TypeError that takes none of the tasks', (key, value) => {
    const good = { ...taskFor(model), id: 1 };
    const task = { ...good, id: 2, [key]: value };
    expect(() => {
      core.submit(bad([good, task]));
    }).toThrow(new RegExp(`^task\\.${key} must be`));
  });

  it.each([
    { ...pixels, data: new Uint8Array(11) },
    { ...pixels, data: new Float32Array(12) },
    { ...pixels, width: 0 },
    { ...pixels, height: 1e9 },
    { ...pixels, data: null },
    7,
  ])('pixels of a wrong shape are a TypeError', (value) => {
    const task = { ...taskFor(model), id: 3, path: null, pixels: value };
    expect(() => {
      core.submit(bad([task]));
    }).toThrow(TypeError);
  });

  it.each([undefined, null, 7, 'text', new ArrayBuffer(4), new Uint16Array(2)])(
    'bytes = %s are a TypeError',
    (value) => {
      const task = { ...taskFor(model), id: 3, path: null, bytes: value };
      expect(() => {
        core.submit(bad([{ ...taskFor(model), id: 2, path: null, bytes: pixels.data }, task]));
      }).toThrow('task.path must be a string, or null with bytes or pixels');
    },
  );

  it('lists must be arrays, and a live id may not come twice', () => {
    for (const value of [null, undefined, 7, {}, 'x']) {
      expect(() => {
        core.submit(bad(value));
      }).toThrow('tasks must be an array');
      expect(() => core.cancel(bad(value))).toThrow('ids must be an array');
    }
    expect(() => core.cancel([-1])).toThrow(TypeError);
    expect(() => core.loadModel(bad(7))).toThrow('path must be a string');
    for (const value of [undefined, 8, [], [8, 1], [1, 64]]) {
      expect(() => core.addBatches(1, bad(value))).toThrow('batches must be an ascending array');
    }
    expect(() => core.addBatches(bad('1'), [4])).toThrow('modelId must be a number');
    const task = { ...taskFor(model), id: 4 };
    expect(() => {
      core.submit([task, task]);
    }).toThrow('task id 4 is live already');
  });

  it('a getter that throws passes its own error on', () => {
    const task = {
      get id(): number {
        throw new RangeError('mine');
      },
    };
    expect(() => {
      core.submit(bad([task]));
    }).toThrow(new RangeError('mine'));
  });

  it('after all that, nothing of it has run', async () => {
    core.submit([{ ...taskFor(model), id: 77 }]);
    while (!answered.has(77)) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(answered).toEqual(new Set([77]));
  });
});

describe('the TypeScript core', () => {
  it('rejects only the wrong task of a tick', async () => {
    const { core, model } = await openTestCore();
    const [first, wrong, last] = await Promise.allSettled(
      runAll(core, [taskFor(model), taskFor(model, { iou: 2 }), taskFor(model)]),
    );
    expect([first?.status, last?.status]).toEqual(['fulfilled', 'fulfilled']);
    expect(wrong).toMatchObject({ status: 'rejected', reason: expect.any(TypeError) });
    await core.close();
  });

  it('adds no batch sizes to a model of the CPU, nor to one that is not there', async () => {
    const { core, model } = await openTestCore();
    await expect(core.addBatches(model.modelId, [4])).rejects.toMatchObject({
      code: 'internal_error',
    });
    await expect(core.addBatches(99, [4])).rejects.toMatchObject({ code: 'unknown_model' });
    expect(model.engines).toEqual([]);
    await core.close();
  });

  it('rejects everything after close, which may be called twice', async () => {
    const { core, model } = await openTestCore();
    const waiting = runAll(
      core,
      Array.from({ length: 20 }, () => taskFor(model, { kind: 'async' })),
    );
    const ends = Promise.allSettled(waiting);
    await Promise.all([core.close(), core.close()]);
    const codes = (await ends).map(codeOf);
    expect(codes).toContain('shutting_down');
    expect(codes.every((code) => code === 'ok' || code === 'shutting_down')).toBe(true);
    const code = { code: 'shutting_down' };
    await expect(core.run(taskFor(model))).rejects.toMatchObject(code);
    await expect(core.loadModel(TINY_MODEL)).rejects.toMatchObject(code);
    await expect(core.addBatches(model.modelId, [4])).rejects.toMatchObject(code);
    await expect(core.readFile('shapes.png')).rejects.toMatchObject(code);
    expect(() => core.stats()).toThrow(expect.objectContaining(code));
    expect(core.cancel([1])).toBe(0);
  });
});
