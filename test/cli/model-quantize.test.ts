/** `lattice model quantize` with its real Python environment (made at the first use), and what it refuses. */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { refusal } from '../../src/cli/model/quantizing.js';
import { PACKAGE_ROOT } from '../../src/base/package.js';
import { findEightBitCopy } from '../../src/models/eight-bit-copy.js';
import type { ModelComparison } from '../../src/models/model-examination.js';
import { readKnownPicture } from '../../src/models/self-check/model-check.js';
import { describeModel } from '../../src/native/core.js';
import { run } from './run.js';

let models: string;
beforeEach(() => {
  models = mkdtempSync(join(tmpdir(), 'lattice-quantize-test-'));
});
afterEach(() => {
  rmSync(models, { recursive: true });
});

/** A bundled model under a name of the user's. */
function installAs(name: string, bundled: string): void {
  copyFileSync(join(PACKAGE_ROOT, 'models', bundled), join(models, `${name}.onnx`));
}

test('a copy in 8 bits finds the same boxes and lies beside its model, under the same name', async () => {
  const images = join(PACKAGE_ROOT, 'models', 'demo');
  installAs('patterns', 'tiny/tiny-v8.onnx');
  const made = await run(
    ...['model', 'quantize', 'patterns', '--images', images, '--models-dir', models],
  );
  expect(made.err).not.toContain('Error');
  expect(made.code).toBe(0);
  expect(made.out).toMatch(/^moves the scores by +convolution, alone in 8 bits\n +[\d.]+ % .*\n/);
  expect(made.out).toMatch(/f32 +[\d.]+ ms +6\n/);
  expect(made.out).toMatch(/int8 +[\d.]+ ms +6 +100\.0 %/);
  const copy = join(models, 'patterns.int8.onnx');
  expect(made.out).toContain(
    `Installed as ${copy}: patterns.pt runs it with LATTICE_PRECISION=int8.`,
  );
  expect(made.out).toMatch(
    /auto, the default, does not take it here: (it takes|.* without labels)/,
  );
  expect(readdirSync(models).sort()).toEqual(['patterns.int8.onnx', 'patterns.onnx']);
  const { metadata } = await describeModel(copy);
  const original = await describeModel(join(models, 'patterns.onnx'));
  expect(metadata).toMatchObject({
    ...original.metadata,
    quantized: 'int8, calibrated on 3 photos',
  });
  const listed = await run('model', 'list', '--models-dir', models);
  expect(listed.out).toContain('patterns.pt');
  expect(listed.out).not.toContain('int8');
  await run('model', 'remove', 'patterns', '--models-dir', models);
  expect(readdirSync(models)).toEqual([]);
});

test('a bundled model is not changed', async () => {
  const images = join(PACKAGE_ROOT, 'models', 'demo');
  expect(
    await run('model', 'quantize', 'tiny-v8', '--images', images, '--models-dir', models),
  ).toMatchObject({ code: 1, err: expect.stringContaining('tiny-v8.pt is bundled') });
});

test('a folder that is not there, or has no photo, is a usage error', async () => {
  installAs('patterns', 'tiny/tiny-v8.onnx');
  const quantize = (images: string) =>
    run('model', 'quantize', 'patterns', '--images', images, '--models-dir', models);
  expect(await quantize(join(models, 'none'))).toMatchObject({
    code: 2,
    err: expect.stringContaining('There is no file or folder'),
  });
  mkdirSync(join(models, 'empty'));
  expect(await quantize(join(models, 'empty'))).toMatchObject({
    code: 2,
    err: expect.stringContaining('has no images'),
  });
});

/** The label files of the demo pictures, in `labels`. */
async function writeDemoLabels(labels: string): Promise<void> {
  const demo = join(PACKAGE_ROOT, 'models', 'demo');
  const classes = ['car', 'motorcycle', 'bus', 'truck'];
  mkdirSync(labels);
  for (const name of ['crossing', 'shapes', 'street']) {
    const { picture, boxes } = await readKnownPicture(join(demo, `${name}.json`));
    const lines = boxes.map(({ class: of, box: [x1, y1, x2, y2] }) => {
      const sides = [(x1 + x2) / picture.width, (y1 + y2) / picture.height].map((sum) => sum / 2);
      return [classes.indexOf(of), ...sides, (x2 - x1) / picture.width, (y2 - y1) / picture.height];
    });
    writeFileSync(join(labels, `${name}.txt`), lines.map((line) => line.join(' ')).join('\n'));
  }
}

test('with labels the copy is judged by its mean average precision', async () => {
  const images = join(PACKAGE_ROOT, 'models', 'demo');
  const labels = join(models, 'labels');
  await writeDemoLabels(labels);
  installAs('depot', 'vehicles-v8n.onnx');
  const made = await run(
    ...['model', 'quantize', 'depot', '--images', images, '--labels', labels],
    ...['--models-dir', models],
  );
  expect(made.code).toBe(0);
  const figures = [...made.out.matchAll(/^(f32|bf16|int8) .* (0\.\d{3})$/gm)];
  expect(figures.map(([, precision]) => precision)).toEqual(
    expect.arrayContaining(['f32', 'int8']),
  );
  for (const [, precision, figure] of figures) {
    // CPUs differ in how they round bf16 and INT8.
    expect(Number(figure)).toBeGreaterThan(precision === 'f32' ? 0.5 : 0.4);
  }
  const copy = await findEightBitCopy(join(models, 'depot.onnx'));
  expect(copy?.proof).toMatchObject({ photos: 3 });
  expect(copy?.proof?.f32.toFixed(3)).toBe(figures.find(([, of]) => of === 'f32')?.[2]);
  expect(copy?.proof?.int8.toFixed(3)).toBe(figures.find(([, of]) => of === 'int8')?.[2]);
});

test('photos that are links have the label file of the name that the user gave', async () => {
  const images = join(models, 'photos');
  const labels = join(models, 'labels');
  mkdirSync(images);
  mkdirSync(labels);
  symlinkSync(join(PACKAGE_ROOT, 'models', 'demo', 'street.jpg'), join(images, 'first.jpg'));
  writeFileSync(join(labels, 'first.txt'), '9 0.5 0.5 0.2 0.2\n');
  installAs('patterns', 'tiny/tiny-v8.onnx');
  const made = await run(
    ...['model', 'quantize', 'patterns', '--images', images, '--labels', labels],
    ...['--models-dir', models],
  );
  expect(made).toMatchObject({ code: 2, err: expect.stringMatching(/first\.txt, line 1/) });
});

test('label files that are missing or of another form are a usage error, before anything is made', async () => {
  const labels = join(models, 'labels');
  installAs('patterns', 'tiny/tiny-v8.onnx');
  const quantize = () =>
    run(
      ...['model', 'quantize', 'patterns', '--images', join(PACKAGE_ROOT, 'models', 'demo')],
      ...['--labels', labels, '--models-dir', models],
    );
  expect(await quantize()).toMatchObject({
    code: 2,
    err: expect.stringContaining('no photo has a label file'),
  });
  mkdirSync(labels);
  writeFileSync(join(labels, 'street.txt'), '0 0.5 0.5 0.2 0.2\n4 0.5 0.5 0.2 0.2\n');
  expect(await quantize()).toMatchObject({
    code: 2,
    err: expect.stringMatching(/street\.txt, line 2: expected `class x y width height`/),
  });
});

describe('precision auto leaves a copy aside', () => {
  const comparison = (
    ms: number,
    [exactMap, candidateMap]: [number, number] | [null, null],
    candidateAgreement: number | null = 1,
    fastAgreement: number | null = 1,
  ): ModelComparison => ({
    pictures: 10,
    exact: { precision: 'f32', inferenceMs: 30, boxes: [], meanPrecision: exactMap },
    fast: { precision: 'bf16', inferenceMs: 20, boxes: [], meanPrecision: exactMap },
    candidate: { precision: 'int8', inferenceMs: ms, boxes: [], meanPrecision: candidateMap },
    fastAgreement,
    candidateAgreement,
  });
  const unlabelled: [null, null] = [null, null];

  it.each([
    [
      'not when it is faster and labels say it is as good',
      comparison(17, [0.42, 0.416], 0.8),
      null,
    ],
    ['when labels say it is worse', comparison(10, [0.42, 0.414]), /mAP50-95 is 0\.414, .* 0\.420/],
    ['when it is no faster', comparison(20, [0.42, 0.42]), /20\.0 ms.*20\.0 ms/],
    [
      'when it is not 1.15 times as fast',
      comparison(17.5, [0.42, 0.42]),
      /it takes 17\.5 ms.*1\.15 times/,
    ],
    ['when no photo is labelled', comparison(10, unlabelled), /without labels/],
    [
      'when it agrees on too few boxes',
      comparison(10, unlabelled, 0.96),
      /96\.0 %.*97\.0 % are needed/,
    ],
    [
      'not for boxes where bf16 loses as many',
      comparison(10, unlabelled, 0.96, 0.98),
      /without lab/,
    ],
    ['when there was nothing to compare', comparison(10, unlabelled, null), /no box/],
  ])('%s', (_, compared, reason) => {
    if (reason === null) expect(refusal(compared)).toBeNull();
    else expect(refusal(compared)).toMatch(reason);
  });
});
