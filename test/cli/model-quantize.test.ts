/** `lattice model quantize` with its real Python environment (made at the first use), and what it refuses. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { refusal } from '../../src/cli/model/quantizing.js';
import { PACKAGE_ROOT } from '../../src/base/package.js';
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

test('an INT8 copy finds the same boxes, keeps the metadata and is installed beside the model', async () => {
  const images = join(PACKAGE_ROOT, 'models', 'demo');
  const made = await run(
    ...['model', 'quantize', 'tiny-v8', '--images', images, '--models-dir', models],
  );
  expect(made.code).toBe(0);
  expect(made.out).toMatch(/f32 +[\d.]+ ms +6\n/);
  expect(made.out).toMatch(/int8 +[\d.]+ ms +6 +100\.0 %/);
  expect(made.out).toContain('"model_name": "tiny-v8-int8.pt".');
  expect(readdirSync(models)).toEqual(['tiny-v8-int8.onnx']);
  const { metadata } = await describeModel(join(models, 'tiny-v8-int8.onnx'));
  const original = await describeModel(join(PACKAGE_ROOT, 'models', 'tiny', 'tiny-v8.onnx'));
  expect(metadata).toMatchObject({
    ...original.metadata,
    quantized: 'int8, calibrated on 3 photos',
  });
}, 300_000);

test('a folder that is not there, or has no photo, is a usage error', async () => {
  const quantize = (images: string) =>
    run('model', 'quantize', 'tiny-v8', '--images', images, '--models-dir', models);
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
  const made = await run(
    ...['model', 'quantize', 'vehicles-v8n', '--images', images, '--labels', labels],
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
}, 300_000);

test('photos that are links have the label file of the name that the user gave', async () => {
  const images = join(models, 'photos');
  const labels = join(models, 'labels');
  mkdirSync(images);
  mkdirSync(labels);
  symlinkSync(join(PACKAGE_ROOT, 'models', 'demo', 'street.jpg'), join(images, 'first.jpg'));
  writeFileSync(join(labels, 'first.txt'), '9 0.5 0.5 0.2 0.2\n');
  const made = await run(
    ...['model', 'quantize', 'tiny-v8', '--images', images, '--labels', labels],
    ...['--models-dir', models],
  );
  expect(made).toMatchObject({ code: 2, err: expect.stringMatching(/first\.txt, line 1/) });
});

test('label files that are missing or of another form are a usage error, before anything is made', async () => {
  const labels = join(models, 'labels');
  const quantize = () =>
    run(
      ...['model', 'quantize', 'tiny-v8', '--images', join(PACKAGE_ROOT, 'models', 'demo')],
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

describe('a copy is refused as default', () => {
  const comparison = (
    ms: number,
    candidateAgreement: number | null,
    fastAgreement: number | null = 1,
    [exactMap, candidateMap]: [number, number] | [null, null] = [null, null],
  ): ModelComparison => ({
    pictures: 10,
    exact: { precision: 'f32', inferenceMs: 30, boxes: [], meanPrecision: exactMap },
    fast: { precision: 'bf16', inferenceMs: 20, boxes: [], meanPrecision: exactMap },
    candidate: { precision: 'int8', inferenceMs: ms, boxes: [], meanPrecision: candidateMap },
    fastAgreement,
    candidateAgreement,
  });

  it.each([
    ['not when it is faster and agrees', comparison(16, 0.98), null],
    ['when it is no faster than the best precision', comparison(20, 1), /20\.0 ms.*20\.0 ms/],
    ['when it is not 1.25 times as fast', comparison(16.1, 1), /it takes 16\.1 ms.*1\.25 times/],
    ['when it agrees on too few boxes', comparison(10, 0.96), /96\.0 %.*97\.0 % are needed/],
    ['not when the best precision differs as much', comparison(10, 0.96, 0.98), null],
    ['when there was nothing to compare', comparison(10, null), /no box/],
    ['not when labels say it is as good', comparison(10, 0.8, 1, [0.42, 0.416]), null],
    [
      'when labels say it is worse',
      comparison(10, 1, 1, [0.42, 0.414]),
      /mAP50-95 is 0\.414, the original's 0\.420/,
    ],
  ])('%s', (_, compared, reason) => {
    if (reason === null) expect(refusal(compared)).toBeNull();
    else expect(refusal(compared)).toMatch(reason);
  });
});
