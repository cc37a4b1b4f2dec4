/** A core of the CPU stands in for the GPU; test/simulated-gpu has engines. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Detection } from '../../src/api/schemas/image.js';
import { PACKAGE_ROOT } from '../../src/base/package.js';
import { openCpuCore } from '../../src/models/cpu-core.js';
import { checkEngine, engineAgreement, isCompared } from '../../src/models/engine-agreement.js';
import type { CoreTask, RawResult } from '../../src/native/core.js';

const TINY = join(PACKAGE_ROOT, 'models/tiny/tiny-v8.onnx');
const ENGINE = 'tiny_of_this.engine';

const cpu = openCpuCore({ precision: 'f32', threads: 1, rectangles: [] });
const native = await cpu.loadModel(TINY);
afterAll(() => cpu.close());

let engineFolder: string;
beforeEach(() => {
  engineFolder = mkdtempSync(join(tmpdir(), 'lattice-engines-'));
  writeFileSync(join(engineFolder, ENGINE), 'a plan');
});
afterEach(() => {
  rmSync(engineFolder, { recursive: true });
});

describe('a loaded engine', () => {
  const right = (boxes: Float32Array) => boxes;
  const wrong = (boxes: Float32Array) => boxes.map((value, at) => (at % 6 < 4 ? value / 2 : value));

  /** Pictures that were run on the engine come in `runs`. */
  function engine(
    boxes: (right: Float32Array) => Float32Array,
    engineFile: string | null = ENGINE,
  ) {
    const runs: CoreTask[] = [];
    const run = async (task: CoreTask): Promise<RawResult> => {
      runs.push(task);
      const result = await cpu.run(task);
      return { ...result, boxes: boxes(result.boxes) };
    };
    const model = {
      file: { name: 'tiny-v8.pt', path: TINY },
      native: {
        ...native,
        device: 'Some GPU',
        precision: 'fp16',
        engines: [{ batch: 1, isLoaded: true, file: engineFile }],
      },
    };
    const check = () => checkEngine(model, { core: { run }, engineFolder, threads: 1 });
    return { check, runs };
  }

  it('is compared once with f32', async () => {
    const first = engine(right);
    expect(await first.check()).toBe(1);
    expect(first.runs).toHaveLength(3);
    const later = engine(wrong);
    expect(await later.check()).toBe(1);
    expect(later.runs).toEqual([]);
  });

  it('that gives other boxes is refused, also the next time, with how many and what to do', async () => {
    const refusal = {
      code: 'invalid_model',
      message: expect.stringMatching(
        /'tiny-v8.pt' gives other boxes on Some GPU in fp16 and batches of 1 than on the CPU in f32: of \d+ boxes .* 0 % agree, and 98 % .*LATTICE_DEVICE=cpu.* remove tiny_of_this\.engine /,
      ) as string,
    };
    await expect(engine(wrong).check()).rejects.toMatchObject(refusal);
    const later = engine(right);
    await expect(later.check()).rejects.toMatchObject(refusal);
    expect(later.runs).toEqual([]);
  });

  it('is compared again where its file is another one, or the score cannot be read', async () => {
    await expect(engine(wrong).check()).rejects.toMatchObject({ code: 'invalid_model' });
    writeFileSync(join(engineFolder, ENGINE), 'another plan');
    expect(await engine(right).check()).toBe(1);
    const [score] = readdirSync(engineFolder).filter((name) => name.endsWith('.agreement'));
    for (const text of ['', '{"share":1}', '{"engine":"a plan","share":1,"boxes":9}']) {
      writeFileSync(join(engineFolder, score!), text);
      await expect(engine(wrong).check()).rejects.toMatchObject({ code: 'invalid_model' });
    }
  });

  it('that is not kept is compared at each load, and leaves no file', async () => {
    rmSync(join(engineFolder, ENGINE));
    for (const file of [null, null, ENGINE]) {
      const each = engine(right, file);
      expect(await each.check()).toBe(1);
      expect(each.runs).toHaveLength(3);
    }
    expect(readdirSync(engineFolder)).toEqual([]);
  });
});

describe('on the CPU a network is compared', () => {
  const compared = (own: Partial<typeof native>, bundled = false) =>
    isCompared({ file: { bundled }, native: { ...native, ...own } });

  it('where it was kept, or computes in few bits; one that was compiled in f32 just now is not', () => {
    expect(compared({ precision: 'f32', wasKept: false, keptFile: 'a.network' })).toBe(false);
    expect(compared({ precision: 'f32', wasKept: true, keptFile: 'a.network' })).toBe(true);
    expect(compared({ precision: 'bf16', wasKept: false, keptFile: null })).toBe(true);
    expect(compared({ precision: 'int8', wasKept: false, keptFile: null })).toBe(true);
  });

  it('where it is not bundled: the boxes of bundled ones on a picture are known', () => {
    expect(compared({ precision: 'bf16', wasKept: true, keptFile: 'a.network' }, true)).toBe(false);
  });
});

describe('two lists of boxes', () => {
  const box = (left: number, confidence: number): Detection => ({
    class: 'car',
    confidence,
    box: [left, 0, left + 40, 40],
  });
  const row = (count: number, score: (index: number) => number, shift = 0) =>
    Array.from({ length: count }, (_, index) => box(100 * index + shift, score(index)));
  const shareOf = (expected: Detection[], found: Detection[]) =>
    engineAgreement([expected], [found]).share;

  it('agree by class, place and score', () => {
    const expected = row(4, () => 0.8);
    expect(
      shareOf(
        expected,
        row(4, () => 0.76),
      ),
    ).toBe(1);
    expect(
      shareOf(
        expected,
        row(4, () => 0.74),
      ),
    ).toBe(0);
    expect(
      shareOf(
        expected,
        row(4, () => 0.8, 1),
      ),
    ).toBe(1);
    expect(
      shareOf(
        expected,
        row(4, () => 0.8, 4),
      ),
    ).toBe(0);
    expect(shareOf(expected, [{ ...box(0, 0.8), class: 'bus' }, ...expected.slice(1)])).toBe(0.75);
  });

  it('differ by what is missing on either side, or there twice', () => {
    const expected = row(3, () => 0.8);
    expect(shareOf(expected, expected.slice(1))).toBeCloseTo(4 / 5, 6);
    expect(shareOf(expected.slice(1), expected)).toBeCloseTo(4 / 5, 6);
    expect(shareOf(expected, [...expected, ...row(3, () => 0.8)])).toBeCloseTo(6 / 9, 6);
  });

  it('agree where a score lies beside 0.25', () => {
    const one = row(2, (index) => [0.9, 0.251][index]!);
    const other = row(2, (index) => [0.9, 0.249][index]!);
    expect(engineAgreement([one], [other])).toEqual({ share: 1, boxes: 3 });
  });

  it('are compared by faint boxes where there are no others, on either side', () => {
    const faint = row(3, (index) => [0.02, 0.011, 0.009][index]!);
    expect(engineAgreement([faint], [faint])).toEqual({ share: 1, boxes: 4 });
    const moved = row(3, (index) => [0.02, 0.011, 0.009][index]!, 30);
    expect(shareOf(faint, moved)).toBe(0);
    expect(engineAgreement([faint], [row(2, () => 0.8, 30)])).toEqual({ share: 0, boxes: 2 });
    expect(engineAgreement([row(2, () => 0.8)], [[]])).toEqual({ share: 0, boxes: 2 });
  });

  it('are compared without boxes that were cut to nothing', () => {
    const beside: Detection = { ...box(0, 0.9), box: [0, 0, 40, 0] };
    expect(engineAgreement([[beside, box(0, 0.8)]], [[beside, box(0, 0.8)]])).toEqual({
      share: 1,
      boxes: 2,
    });
  });

  it('say nothing without a box, or with scores that are rounding', () => {
    expect(engineAgreement([[]], [[]])).toEqual({ share: null, boxes: 0 });
    expect(
      shareOf(
        row(2, () => 0.0005),
        [],
      ),
    ).toBeNull();
  });

  it('are compared without the end of a list that is full', () => {
    const full = row(300, (index) => 0.9 - index / 1_000);
    const shifted = [...full.slice(0, 290), ...row(10, () => 0.605, 5_000_000)];
    const { share, boxes } = engineAgreement([full], [shifted]);
    expect(share).toBe(1);
    expect(boxes).toBe(400);
  });
});
