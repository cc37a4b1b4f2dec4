/** `lattice model quantize` with its real Python environment (made at the first use), and what it refuses. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { refusal } from '../../src/cli/model/quantizing.js';
import { PACKAGE_ROOT } from '../../src/config.js';
import type { ModelComparison } from '../../src/models/model-examination.js';
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

describe('a copy is refused as default', () => {
  const comparison = (
    ms: number,
    candidateAgreement: number | null,
    fastAgreement: number | null = 1,
  ): ModelComparison => ({
    pictures: 10,
    exact: { precision: 'f32', inferenceMs: 30, boxes: [] },
    fast: { precision: 'bf16', inferenceMs: 20, boxes: [] },
    candidate: { precision: 'int8', inferenceMs: ms, boxes: [] },
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
  ])('%s', (_, compared, reason) => {
    if (reason === null) expect(refusal(compared)).toBeNull();
    else expect(refusal(compared)).toMatch(reason);
  });
});
