import { mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LatticeError } from '../../src/api/errors.js';
import type { Precision } from '../../src/api/schemas/model.js';
import type { HowToLoad } from '../../src/native/contract.js';
import type { LoadedModel } from '../../src/models/loaded-model.js';
import { ModelFolder } from '../../src/models/model-folder.js';
import { ModelRegistry } from '../../src/models/model-registry.js';
import { digestModel } from '../../src/native/core.js';
import { makeEightBitCopy } from '../support/eight-bit-copies.js';
import { eventual } from '../support/eventually.js';
import { nativeModel } from '../support/native-model.js';

let modelsDir: string;
beforeEach(() => {
  modelsDir = mkdtempSync(join(tmpdir(), 'lattice-models-'));
});
afterEach(() => {
  rmSync(modelsDir, { recursive: true });
  vi.useRealTimers();
});

/** The loader is slow and counts, which the real one could not tell; the real one is tested with the detector. */
async function registry(
  admit: (model: LoadedModel) => Promise<void> = () => Promise.resolve(),
  memoryBudget = Number.POSITIVE_INFINITY,
  precision: Precision = 'f32',
) {
  const loads: string[] = [];
  const copies: (string | undefined)[] = [];
  const unfit: string[] = [];
  const ways: HowToLoad[] = [];
  const unloads: number[] = [];
  let chosen = 'f32';
  let kept = false;
  let fault: LatticeError | null = null;
  let capacity = Number.POSITIVE_INFINITY;
  let held = 0;
  let large = '';
  let digest: string | null = null;
  const loader = {
    async loadModel(path: string, how: HowToLoad = {}) {
      const { eightBitPath } = how;
      loads.push(path);
      ways.push(how);
      copies.push(eightBitPath);
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (fault !== null) throw fault;
      const isLarge = large !== '' && path.endsWith(`${large}.onnx`);
      if (held >= capacity || isLarge)
        throw new LatticeError('overloaded', 'The GPU is out of memory.');
      held += 1;
      return nativeModel({
        modelId: loads.length,
        // A hundred bytes, or as the file's name says.
        sha256: digest ?? String(loads.length).padStart(64, '0').split('').reverse().join(''),
        memoryBytes: Number(/-(\d+)B\.onnx$/.exec(path)?.[1] ?? 100),
        precision: how.precision ?? (eightBitPath === undefined ? chosen : 'int8'),
        wasKept: how.anew !== true && kept,
        metadata: { license: 'CC0', version: '8.3.40' },
      });
    },
    unloadModel: (id: number) => {
      unloads.push(id);
      held -= 1;
    },
  };
  const folder = await ModelFolder.open({ modelsDir, modelFamily: 'yolo' });
  return {
    models: new ModelRegistry({
      folder,
      loader,
      precision,
      onUnfitCopy: (_model, fault) => {
        unfit.push(fault);
      },
      onUnfitNetwork: (_model, fault) => {
        unfit.push(fault);
      },
      admit,
      memoryBudget,
    }),
    loads,
    copies,
    ways,
    /** Loads in this precision where none is asked for, from a kept network where none is to be made anew. */
    keeps: (precision: string) => {
      chosen = precision;
      kept = true;
    },
    unfit,
    unloads,
    roomFor: (count: number) => {
      capacity = count;
    },
    tooLarge: (name: string) => {
      large = name;
    },
    digestAs: (sha256: string) => {
      digest = sha256;
    },
    failWith: (error: LatticeError | null) => {
      fault = error;
    },
  };
}

describe('model registry', () => {
  it('loads a file once under concurrent first use, also by two names', async () => {
    const { models, loads } = await registry();
    const names = ['yolov8n.pt', 'vehicles-v8n.pt', 'yolov8n.pt', 'vehicles-v8n.pt', 'yolov8n.pt'];
    const loaded = await Promise.all(names.map((name) => models.load(name)));
    expect(loads).toHaveLength(1);
    expect(new Set(loaded).size).toBe(1);
    expect(models.loaded()).toHaveLength(1);
    expect(models.ready('vehicles-v8n.pt')).toBe(loaded[0]);
  });

  it('says how far the boxes of a loaded model agree with f32', async () => {
    const { models } = await registry((model) => {
      model.agreement = 0.995;
      return Promise.resolve();
    });
    expect(await models.describe('yolov8n.pt')).toMatchObject({ agreement: null });
    await models.load('yolov8n.pt');
    expect(await models.describe('yolov8n.pt')).toMatchObject({ agreement: 0.995 });
  });

  it('unloads the model used longest ago where memory is short, but never the default one', async () => {
    const { models, unloads, roomFor } = await registry();
    for (const name of ['a', 'b', 'c']) writeFileSync(join(modelsDir, `${name}.onnx`), name);
    roomFor(3);
    await models.load('yolov8n.pt');
    await models.load('a.pt');
    await models.load('b.pt');
    models.ready('a.pt');
    const third = await models.load('c.pt');
    expect(unloads).toEqual([3]); // b
    expect(models.ready('b.pt')).toBeUndefined();
    expect(models.ready('c.pt')).toBe(third);
    expect(await models.describe('b.pt')).toMatchObject({ state: 'available' });
    await models.load('b.pt');
    expect(models.ready('a.pt')).toBeUndefined();
    roomFor(0);
    await expect(models.load('a.pt')).rejects.toMatchObject({ code: 'overloaded' });
    expect(models.loaded().map((model) => model.file.name)).toEqual(['yolov8n.pt']);
  });

  it('keeps the loaded models within the memory budget', async () => {
    const { models, unloads } = await registry(undefined, 350);
    for (const name of ['a', 'b', 'c', 'large-200B']) {
      writeFileSync(join(modelsDir, `${name}.onnx`), name);
    }
    for (const name of ['yolov8n.pt', 'a.pt', 'b.pt']) await models.load(name);
    expect(unloads).toEqual([]);
    models.ready('a.pt');
    await models.load('c.pt');
    expect(unloads).toEqual([3]); // b
    await models.load('large-200B.pt');
    expect(unloads).toEqual([3, 2, 4]); // a and c
    expect(await models.describe('large-200B.pt')).toMatchObject({
      state: 'ready',
      memoryBytes: 200,
    });
  });

  it('keeps a model that the budget cannot hold, alone beside the default one', async () => {
    const { models, unloads } = await registry(undefined, 350);
    for (const name of ['a', 'huge-300B']) writeFileSync(join(modelsDir, `${name}.onnx`), name);
    await models.load('yolov8n.pt');
    await models.load('a.pt');
    const huge = await models.load('huge-300B.pt');
    expect(unloads).toEqual([2]); // a
    expect(models.ready('huge-300B.pt')).toBe(huge);
    expect(models.loaded().map(({ file }) => file.name)).toEqual(['yolov8n.pt', 'huge-300B.pt']);
  });

  it('unloads nothing for a file that is missing, unfit or not admitted', async () => {
    const { models, unloads, failWith } = await registry(
      ({ file }) =>
        file.name === 'blind.pt'
          ? Promise.reject(new LatticeError('invalid_model', 'it sees nothing'))
          : Promise.resolve(),
      250,
    );
    for (const name of ['a', 'unfit', 'blind']) {
      writeFileSync(join(modelsDir, `${name}.onnx`), name);
    }
    await models.load('yolov8n.pt');
    await models.load('a.pt');
    await expect(models.load('missing.pt')).rejects.toMatchObject({ code: 'unknown_model' });
    failWith(new LatticeError('invalid_model', 'no such operator'));
    await expect(models.load('unfit.pt')).rejects.toThrow('no such operator');
    failWith(null);
    await expect(models.load('blind.pt')).rejects.toThrow('it sees nothing');
    expect(unloads).toEqual([4]); // the blind one itself
    expect(models.ready('a.pt')).toBeDefined();
  });

  it('does not unload a second time for a model that memory was too short for', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { models, unloads, tooLarge } = await registry();
    for (const name of ['a', 'huge']) writeFileSync(join(modelsDir, `${name}.onnx`), name);
    tooLarge('huge');
    await models.load('yolov8n.pt');
    await models.load('a.pt');
    const huge = () => expect(models.load('huge.pt')).rejects.toMatchObject({ code: 'overloaded' });
    await huge();
    expect(unloads).toEqual([2]); // a: what the other one takes was not known
    await models.load('a.pt');
    await huge();
    expect(models.ready('a.pt')).toBeDefined();
    // Another file, or some time: it may be different now.
    writeFileSync(join(modelsDir, 'huge.onnx'), 'smaller');
    await huge();
    expect(models.ready('a.pt')).toBeUndefined();
    await models.load('a.pt');
    vi.advanceTimersByTime(11 * 60_000);
    await huge();
    expect(models.ready('a.pt')).toBeUndefined();
  });

  it('loads a model again that was unloaded while a caller waited for it', async () => {
    const { models } = await registry(undefined, 200);
    for (const name of ['a', 'b']) writeFileSync(join(modelsDir, `${name}.onnx`), name);
    await models.load('yolov8n.pt');
    const asked = Array.from({ length: 20 }, (_, turn) => models.load(turn % 2 ? 'a.pt' : 'b.pt'));
    for (const [turn, model] of (await Promise.all(asked)).entries()) {
      expect(model.file.name).toBe(turn % 2 ? 'a.pt' : 'b.pt');
    }
    expect(models.loaded()).toHaveLength(2);
  });

  it('refuses an unfit file without trying again until the file changes', async () => {
    const { models, loads, failWith } = await registry();
    const path = join(modelsDir, 'bad.onnx');
    writeFileSync(path, 'x');
    failWith(new LatticeError('invalid_model', 'no such thing'));
    await expect(models.load('bad.pt')).rejects.toThrow('no such thing');
    await expect(models.load('bad.pt')).rejects.toThrow('no such thing');
    expect(loads).toHaveLength(1);
    expect(await models.describe('bad.pt')).toMatchObject({
      state: 'refused',
      reason: 'no such thing',
    });
    writeFileSync(path, 'longer');
    failWith(null);
    expect(await models.describe('bad.pt')).toMatchObject({ state: 'available', reason: null });
    await models.load('bad.pt');
    expect(await models.describe('bad.pt')).toMatchObject({
      ...{ state: 'ready', licence: 'CC0' },
      // That of the program that exported the file.
      release: null,
    });
  });

  it('tries a refused file again once the file of its weights is there', async () => {
    const { models, loads, failWith } = await registry();
    writeFileSync(join(modelsDir, 'bad.onnx'), 'x');
    failWith(new LatticeError('invalid_model', 'weights.bin is missing'));
    await expect(models.load('bad.pt')).rejects.toThrow('weights.bin');
    failWith(null);
    writeFileSync(join(modelsDir, 'other.onnx'), 'x');
    await expect(models.load('bad.pt')).rejects.toThrow('weights.bin');
    expect(loads).toHaveLength(1);
    writeFileSync(join(modelsDir, 'weights.bin'), 'x');
    await models.load('bad.pt');
  });

  it('tries again after a fault that is not the file’s', async () => {
    const { models, failWith } = await registry();
    failWith(new LatticeError('internal_error', 'out of memory'));
    await expect(models.load('yolov8n.pt')).rejects.toThrow('out of memory');
    failWith(null);
    await expect(models.load('yolov8n.pt')).resolves.toBeDefined();
  });

  it('frees a model that is not admitted', async () => {
    const { models, unloads } = await registry(() =>
      Promise.reject(new LatticeError('invalid_model', 'it sees nothing')),
    );
    await expect(models.load('yolov8n.pt')).rejects.toThrow('it sees nothing');
    expect(unloads).toEqual([1]);
    expect(models.ready('yolov8n.pt')).toBeUndefined();
  });

  it('describes files that were not loaded yet, with classes from the file', async () => {
    const { models, loads } = await registry();
    writeFileSync(join(modelsDir, 'noise.onnx'), 'noise');
    expect(await models.describeAll()).toMatchObject([
      {
        name: 'yolov8n.pt',
        state: 'available',
        classes: ['car', 'motorcycle', 'bus', 'truck'],
        licence: 'Apache-2.0',
        bundled: true,
        aliasOf: 'vehicles-v8n.pt',
        release: '1.4.0',
        isDefault: true,
        device: null,
        input: null,
      },
      { name: 'noise.pt', classes: [], bundled: false, isDefault: false },
      { name: 'vehicles-v8n.pt', bundled: true, aliasOf: null, isDefault: false },
    ]);
    expect(loads).toEqual([]);
  });
});

describe('replaced files', () => {
  /** Another file, at rest. */
  function replace(name: string, content: string): void {
    const path = join(modelsDir, `${name}.onnx`);
    writeFileSync(path, content);
    const minuteAgo = Date.now() / 1_000 - 60;
    utimesSync(path, minuteAgo, minuteAgo);
  }

  it('leave no model loaded behind, however often', async () => {
    const { models, loads, unloads } = await registry();
    replace('a', 'first');
    await models.load('a.pt');
    for (let turn = 0; turn < 10; turn += 1) {
      replace('a', 'x'.repeat(turn));
      expect(await models.refresh()).toBe(false);
    }
    expect([loads.length, unloads.length]).toEqual([11, 10]);
    expect(models.loaded()).toHaveLength(1);
  });

  it('are taken for all names of the file, and the old model is unloaded once', async () => {
    const { models, loads, unloads } = await registry();
    await models.load('vehicles-v8n.pt');
    const bundled = await models.load('yolov8n.pt');
    replace('yolov8n', 'own');
    await models.refresh();
    expect(models.ready('yolov8n.pt')).not.toBe(bundled);
    expect(models.ready('vehicles-v8n.pt')).toBe(bundled);
    replace('vehicles-v8n', 'own too');
    await models.refresh();
    expect([loads.length, unloads]).toEqual([3, [1]]);
  });

  it('are taken where size and time of modification are those of the earlier file', async () => {
    const { models, loads } = await registry();
    const path = join(modelsDir, 'a.onnx');
    const minuteAgo = Math.floor(Date.now() / 1_000) - 60;
    const write = (content: string) => {
      writeFileSync(path, content);
      utimesSync(path, minuteAgo, minuteAgo);
    };
    write('first');
    await models.load('a.pt');
    await models.refresh();
    expect(loads).toHaveLength(1);
    write('other');
    await models.refresh();
    expect(loads).toHaveLength(2);
  });

  // As on a volume without times of change, where nothing but its bytes tells a file from the earlier one.
  it('are compared by their bytes when they are reloaded', async () => {
    const { models, loads, digestAs } = await registry();
    await models.load('yolov8n.pt');
    expect(await models.refresh()).toBe(false);
    expect(loads).toHaveLength(1);
    digestAs(await digestModel(loads[0] ?? ''));
    await models.reload();
    expect(loads).toHaveLength(2);
    await models.reload();
    expect(loads).toHaveLength(2);
    expect(models.loaded()).toHaveLength(1);
    await models.load('vehicles-v8n.pt');
    expect(loads).toHaveLength(2);
  });

  it('leave no reason behind', async () => {
    const { models, failWith } = await registry();
    await models.load('yolov8n.pt');
    const reason = async () => (await models.describe('yolov8n.pt')).reason;
    replace('yolov8n', 'bad');
    failWith(new LatticeError('invalid_model', 'It is no model.'));
    await models.refresh();
    expect(await reason()).toContain('It is no model.');
    rmSync(join(modelsDir, 'yolov8n.onnx'));
    expect(await reason()).toBeNull();
    failWith(null);
    replace('yolov8n', 'good');
    expect(await reason()).toBeNull();
  });

  it('keep the old model while an image is in hand, and while a job runs on it', async () => {
    const { models, unloads } = await registry();
    replace('a', 'first');
    const first = await models.load('a.pt');
    models.hold(first);
    replace('a', 'second');
    await models.refresh();
    expect(unloads).toEqual([]);
    models.keep([first.version]);
    models.release(first);
    expect(models.ready('a.pt', first.version)).toBe(first);
    models.keep([]);
    expect(unloads).toEqual([1]);
  });

  it('that come and go leave the name to a model that is loaded', async () => {
    const { models, unloads } = await registry();
    const bundled = await models.load('yolov8n.pt');
    models.keep([bundled.version]);
    for (let turn = 0; turn < 3; turn += 1) {
      replace('yolov8n', 'x'.repeat(turn));
      await models.refresh();
      rmSync(join(modelsDir, 'yolov8n.onnx'));
      await eventual(() => models.refresh()).toBe(false);
      const back = models.ready('yolov8n.pt');
      expect([back?.file.bundled, back?.isUnloaded]).toEqual([true, false]);
      if (turn === 0) expect(back).toBe(bundled);
      models.keep([]);
      expect(back?.isUnloaded).toBe(false);
    }
    expect(unloads).toHaveLength(5); // each that is not in use now
  });

  it('that do not fit into memory beside the old one are not taken, and tried again later', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { models, loads, roomFor } = await registry();
    replace('yolov8n', 'first');
    const first = await models.load('yolov8n.pt');
    roomFor(1);
    replace('yolov8n', 'second');
    await models.refresh();
    await models.refresh();
    expect(models.ready('yolov8n.pt')).toBe(first);
    expect(loads).toHaveLength(2);
    expect(await models.describe('yolov8n.pt')).toMatchObject({
      state: 'ready',
      reason: expect.stringContaining('The GPU is out of memory.'),
    });
    roomFor(2);
    vi.advanceTimersByTime(61_000);
    await models.refresh();
    expect(models.ready('yolov8n.pt')).not.toBe(first);
  });

  it('are not looked for while the folder does not answer', async () => {
    replace('a', 'first');
    const { models, unloads } = await registry();
    await models.load('a.pt');
    const aside = `${modelsDir}-aside`;
    renameSync(modelsDir, aside);
    // A link to itself: neither there nor missing.
    symlinkSync(modelsDir, modelsDir);
    await models.refresh();
    expect(models.ready('a.pt')).toBeDefined();
    rmSync(modelsDir);
    renameSync(aside, modelsDir);
    expect(unloads).toEqual([]);
  });
});

describe('a network', () => {
  const refused = new LatticeError('invalid_model', 'it sees nothing');
  const admitting = (fits: (model: LoadedModel) => boolean) => (model: LoadedModel) =>
    fits(model) ? Promise.resolve() : Promise.reject(refused);

  it('that was kept and is unfit is compiled anew before its copy in 8 bits is left aside', async () => {
    const original = join(modelsDir, 'a.onnx');
    writeFileSync(original, 'a');
    const copy = await makeEightBitCopy(original);
    const admit = admitting(({ native }) => !native.wasKept);
    const { models, ways, unfit, unloads, keeps } = await registry(admit, undefined, 'auto');
    keeps('f32');
    await models.load('a.pt');
    expect(ways).toEqual([{ eightBitPath: copy }, { eightBitPath: copy, anew: true }]);
    expect(unfit).toEqual(['it sees nothing']);
    expect(unloads).toEqual([1]);
    expect(await models.describe('a.pt')).toMatchObject({ state: 'ready', precision: 'int8' });
  });

  it('that is unfit in bf16 runs in f32, unless bf16 was asked for', async () => {
    writeFileSync(join(modelsDir, 'a.onnx'), 'a');
    const admit = admitting(({ native }) => native.precision === 'f32');
    const chosen = await registry(admit, undefined, 'auto');
    chosen.keeps('bf16');
    await chosen.models.load('a.pt');
    expect(chosen.ways).toEqual([{}, { anew: true }, { precision: 'f32' }]);
    const asked = await registry(admit, undefined, 'bf16');
    asked.keeps('bf16');
    await expect(asked.models.load('a.pt')).rejects.toBe(refused);
    expect(asked.ways).toEqual([{}, { anew: true }]);
    expect(asked.unloads).toEqual([1, 2]);
  });

  it('whose boxes are known to be others is not made once more', async () => {
    writeFileSync(join(modelsDir, 'a.onnx'), 'a');
    const admit = admitting((model) => {
      model.agreement = model.native.precision === 'f32' ? 1 : 0.97;
      return model.agreement === 1;
    });
    const { models, ways, keeps } = await registry(admit, undefined, 'auto');
    keeps('bf16');
    await models.load('a.pt');
    expect(ways).toEqual([{}, { precision: 'f32' }]);
    expect(await models.describe('a.pt')).toMatchObject({ precision: 'f32', agreement: 1 });
  });

  it('in f32 that was kept with other boxes is compiled anew', async () => {
    writeFileSync(join(modelsDir, 'a.onnx'), 'a');
    const admit = admitting((model) => {
      if (model.native.wasKept) model.agreement = 0.97;
      return !model.native.wasKept;
    });
    const { models, ways, keeps } = await registry(admit, undefined, 'f32');
    keeps('f32');
    await models.load('a.pt');
    expect(ways).toEqual([{}, { anew: true }]);
    expect(await models.describe('a.pt')).toMatchObject({ state: 'ready', agreement: null });
  });
});

describe('a copy in 8 bits', () => {
  /** A model `a` with a copy. */
  async function modelWithCopy(proven = true): Promise<{ original: string; copy: string }> {
    const original = join(modelsDir, 'a.onnx');
    writeFileSync(original, 'a');
    return { original, copy: await makeEightBitCopy(original, proven ? undefined : null) };
  }
  const admitAll = () => Promise.resolve();
  const as = (precision: Precision, admit: (model: LoadedModel) => Promise<void> = admitAll) =>
    registry(admit, undefined, precision);

  it('is left to the measurement of the engine where it is proven', async () => {
    const { original, copy } = await modelWithCopy();
    const { models, loads, copies } = await as('auto');
    await models.load('a.pt');
    expect([loads, copies]).toEqual([[original], [copy]]);
    expect(await models.describe('a.pt')).toMatchObject({ name: 'a.pt', precision: 'int8' });
  });

  it.each(['f32', 'bf16'] as const)('is not taken for %s', async (precision) => {
    await modelWithCopy();
    const { models, copies } = await as(precision);
    await models.load('a.pt');
    expect(copies).toEqual([undefined]);
  });

  it('is not taken without a proof, unless it is asked for', async () => {
    const { original, copy } = await modelWithCopy(false);
    const unproven = await as('auto');
    await unproven.models.load('a.pt');
    expect([unproven.loads, unproven.copies]).toEqual([[original], [undefined]]);
    const chosen = await as('int8');
    await chosen.models.load('a.pt');
    expect(chosen.loads).toEqual([copy]);
  });

  it('is missed by a model that has none when it is asked for', async () => {
    writeFileSync(join(modelsDir, 'b.onnx'), 'b');
    const { models, loads } = await as('int8');
    await expect(models.load('b.pt')).rejects.toMatchObject({
      code: 'invalid_model',
      message: expect.stringContaining('lattice model quantize b --images PHOTOS'),
    });
    const copy = await makeEightBitCopy(join(modelsDir, 'b.onnx'), null);
    await models.load('b.pt');
    expect(loads).toEqual([copy]);
  });

  it('is left aside with its fault where it fails the self-check', async () => {
    const { original, copy } = await modelWithCopy();
    const { models, loads, copies, unfit, unloads } = await as('auto', ({ native }) =>
      native.precision === 'int8'
        ? Promise.reject(new LatticeError('invalid_model', 'it sees nothing'))
        : Promise.resolve(),
    );
    await models.load('a.pt');
    expect([loads, copies]).toEqual([
      [original, original],
      [copy, undefined],
    ]);
    expect(unfit).toEqual(['it sees nothing']);
    expect(unloads).toEqual([1]);
    expect(await models.describe('a.pt')).toMatchObject({ state: 'ready', precision: 'f32' });
  });
});
