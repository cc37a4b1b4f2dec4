/** Cores of the CPU stand in for those of the GPU that build; test/simulated-gpu has engines. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { LatticeError } from '../../src/api/errors.js';
import { PACKAGE_ROOT } from '../../src/base/package.js';
import { openCpuCore } from '../../src/models/cpu-core.js';
import { LargerBatches } from '../../src/models/larger-batches.js';
import type { LoadedModel } from '../../src/models/loaded-model.js';
import type { NativeModel } from '../../src/native/contract.js';
import { eventual } from '../support/eventually.js';
import { loadedModel } from '../support/watched-model.js';

const TINY = join(PACKAGE_ROOT, 'models/tiny/tiny-v8.onnx');

const cpu = openCpuCore({ precision: 'f32', threads: 1, rectangles: [] });
const tiny = await cpu.loadModel(TINY);
afterAll(() => cpu.close());

let engineFolder: string;
beforeEach(() => {
  engineFolder = mkdtempSync(join(tmpdir(), 'lattice-engines-'));
});
afterEach(() => {
  rmSync(engineFolder, { recursive: true });
});

const engineOf = (batch: number, isLoaded: boolean, file: string | null = `${batch}.engine`) => ({
  batch,
  isLoaded,
  file,
});

function modelOf(batches: number[]): LoadedModel {
  const model = loadedModel('tiny-v8.pt');
  model.file.path = TINY;
  model.native = { ...tiny, engines: batches.map((batch, at) => engineOf(batch, at === 0)) };
  model.agreement = 1;
  return model;
}

/** One build: its steps end when a test says so. */
interface StartedBuild {
  batch: number;
  isClosed: boolean;
  end(fault?: LatticeError): void;
}

interface RigOptions {
  /** Batch sizes whose engines give other boxes. */
  wrong?: readonly number[];
  keeps?: boolean;
  /** SHA-256 of the file that is built. */
  sha256?: string;
}

function rig({ wrong = [], keeps = true, sha256 = tiny.sha256 }: RigOptions = {}) {
  const builds: StartedBuild[] = [];
  const added: number[][] = [];
  const logged: { level: string; fields: object }[] = [];
  const log = (level: string) => (fields: object) => {
    logged.push({ level, fields });
  };
  const models = new Map<number, LoadedModel>();
  const larger = new LargerBatches({
    core: {
      addBatches: (modelId, batches) => {
        added.push(batches);
        const { native } = models.get(modelId)!;
        const engines = native.engines.map((engine) =>
          batches.includes(engine.batch) ? { ...engine, isLoaded: true } : engine,
        );
        return Promise.resolve({ ...native, engines });
      },
    },
    openBuilder: (batch) => {
      let settle: { resolve(model: NativeModel): void; reject(error: LatticeError): void };
      const native = new Promise<NativeModel>((resolve, reject) => (settle = { resolve, reject }));
      const build: StartedBuild = {
        batch,
        isClosed: false,
        end: (fault) => {
          if (fault !== undefined) settle.reject(fault);
          writeFileSync(join(engineFolder, `${batch}.engine`), `a plan for ${batch}`);
          const file = keeps ? `${batch}.engine` : null;
          settle.resolve({ ...tiny, sha256, engines: [engineOf(batch, true, file)] });
        },
      };
      builds.push(build);
      return {
        loadModel: () => native,
        run: async (task) => {
          const result = await cpu.run({ ...task, modelId: tiny.modelId });
          const boxes = wrong.includes(batch) ? result.boxes.map((each) => each / 2) : result.boxes;
          return { ...result, boxes };
        },
        close: () => {
          if (!build.isClosed) settle.reject(new LatticeError('cancelled', 'The build ended.'));
          build.isClosed = true;
          return Promise.resolve();
        },
      };
    },
    engineFolder,
    threads: 1,
    logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
  });
  const admit = async (model: LoadedModel) => {
    models.set(model.native.modelId, model);
    await larger.addKept(model);
    larger.build(model);
  };
  const built = async (number: number) => {
    await eventual(() => builds.length).toBe(number);
    return builds[number - 1]!;
  };
  const warned = () => logged.filter(({ level }) => level === 'warn').map(({ fields }) => fields);
  return { larger, admit, builds, built, added, warned };
}

it('are built one after another beside the model, and each is added once it is proven', async () => {
  const { larger, admit, built, builds, added, warned } = rig();
  const model = modelOf([1, 4, 8]);
  await admit(model);
  expect(model.batchLimit).toContain('batches of 1 at most');
  (await built(1)).end();
  const second = await built(2);
  expect(builds[0]!.isClosed).toBe(true);
  expect(added).toEqual([[4]]);
  second.end();
  await eventual(() => model.batchLimit).toBeNull();
  expect(builds.map(({ batch }) => batch)).toEqual([4, 8]);
  expect(added).toEqual([[4], [8]]);
  expect(model.native.engines.every(({ isLoaded }) => isLoaded)).toBe(true);
  expect(warned()).toEqual([]);
  await larger.close();
});

it('that are kept and proven are added together, before anything is built', async () => {
  const first = rig();
  const model = modelOf([1, 4, 8]);
  await first.admit(model);
  (await first.built(1)).end();
  (await first.built(2)).end();
  await eventual(() => model.batchLimit).toBeNull();
  writeFileSync(join(engineFolder, '16.engine'), 'not compared');
  const later = rig();
  const again = modelOf([1, 4, 8, 16]);
  await later.admit(again);
  expect(later.added).toEqual([[4, 8]]);
  expect((await later.built(1)).batch).toBe(16);
  await Promise.all([first.larger.close(), later.larger.close()]);
});

it.each<[string, RigOptions, LatticeError | undefined, RegExp]>([
  [
    'gives other boxes',
    { wrong: [4] },
    undefined,
    /gives other boxes on .* batches of 4 .* 0 % agree/,
  ],
  ['fails to build', {}, new LatticeError('overloaded', 'No memory.'), /of 4 failed: No memory/],
  ['is not kept', { keeps: false }, undefined, /cannot be kept/],
  ['is of another file', { sha256: 'another' }, undefined, /was replaced since/],
])(
  'end at the first one that %s: the model goes on, and says so',
  async (_, options, fault, reason) => {
    const { larger, admit, built, builds, added, warned } = rig(options);
    const model = modelOf([1, 4, 8]);
    await admit(model);
    (await built(1)).end(fault);
    await eventual(() => model.batchLimit).toMatch(reason);
    expect(model.batchLimit).toMatch(/^It runs batches of 1 at most, because those of 4 failed/);
    await larger.close();
    expect(added).toEqual([]);
    expect(builds).toHaveLength(1);
    expect(warned()).toMatchObject([{ model: 'tiny-v8.pt', batch: 4, largest: 1 }]);
    expect(model.agreement).toBe(1);
  },
);

it('give way to a load, and go on behind it', async () => {
  const { larger, admit, built, builds, added } = rig();
  const model = modelOf([1, 4]);
  await admit(model);
  const broken = await built(1);
  let endLoad: (() => void) | undefined;
  const load = larger.givingWay(() => {
    expect(broken.isClosed).toBe(true);
    return new Promise<string>((resolve) => {
      endLoad = () => {
        resolve('a model');
      };
    });
  });
  await eventual(() => endLoad).toBeDefined();
  expect(builds).toHaveLength(1);
  endLoad!();
  expect(await load).toBe('a model');
  (await built(2)).end();
  await eventual(() => model.batchLimit).toBeNull();
  expect(added).toEqual([[4]]);
  await expect(larger.givingWay(() => Promise.reject(new Error('no such file')))).rejects.toThrow(
    'no such file',
  );
  await larger.close();
});

it('of a model that is unloaded or of a service that stops are given up, without a word', async () => {
  const { larger, admit, built, builds, added, warned } = rig();
  const gone = modelOf([1, 4, 8]);
  const next = { ...modelOf([1, 2]), native: { ...modelOf([1, 2]).native, modelId: 99 } };
  await admit(gone);
  await admit(next);
  gone.isUnloaded = true;
  (await built(1)).end();
  expect((await built(2)).batch).toBe(2);
  await larger.close();
  expect(builds.every(({ isClosed }) => isClosed)).toBe(true);
  expect(added).toEqual([]);
  expect(warned()).toEqual([]);
});
