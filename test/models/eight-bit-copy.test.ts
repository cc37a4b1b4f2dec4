import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PACKAGE_ROOT } from '../../src/base/package.js';
import { findEightBitCopy, isProven } from '../../src/models/eight-bit-copy.js';
import { BUNDLED_COPY, makeEightBitCopy } from '../support/eight-bit-copies.js';

let folder: string;
let original: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-copies-'));
  original = join(folder, 'depot.onnx');
  writeFileSync(original, 'a model');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

it('lies beside its model and says what it loses', async () => {
  const path = await makeEightBitCopy(original, { photos: 69, f32: 0.33, int8: 0.329 });
  const copy = await findEightBitCopy(original);
  expect(copy).toEqual({ path, proof: { photos: 69, f32: 0.33, int8: 0.329 } });
});

it('is none where there is no file, or one that is no model', async () => {
  expect(await findEightBitCopy(original)).toBeNull();
  writeFileSync(join(folder, 'depot.int8.onnx'), 'no model');
  expect(await findEightBitCopy(original)).toBeNull();
});

it('is none once its model was replaced', async () => {
  await makeEightBitCopy(original);
  writeFileSync(original, 'another model');
  expect(await findEightBitCopy(original)).toBeNull();
});

it.each([
  ['what gains', { photos: 1, f32: 0.33, int8: 0.34 }, true],
  ['what loses 0.005', { photos: 1, f32: 0.335, int8: 0.3301 }, true],
  ['what loses more', { photos: 1, f32: 0.335, int8: 0.3299 }, false],
  ['what was never compared', null, false],
])('is proven: %s', async (_name, proof, proven) => {
  await makeEightBitCopy(original, proof);
  const copy = await findEightBitCopy(original);
  expect(copy !== null && isProven(copy)).toBe(proven);
});

it('comes with the bundled detector, made from its present weights and proven', async () => {
  const copy = await findEightBitCopy(join(PACKAGE_ROOT, 'models', 'vehicles-v8n.onnx'));
  expect(copy?.path).toBe(BUNDLED_COPY);
  expect(copy !== null && isProven(copy)).toBe(true);
});
