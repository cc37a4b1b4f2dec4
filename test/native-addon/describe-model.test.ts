import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadAddon } from '../../src/native/addon-loader.js';
import { describeModel } from '../../src/native/core.js';
import { PACKAGE_ROOT } from '../../src/base/package.js';

it('reads classes and metadata of a model file', async () => {
  const { names, metadata } = await describeModel(join(PACKAGE_ROOT, 'models/tiny/tiny-v8.onnx'));
  expect(names).toEqual(['car', 'motorcycle', 'bus', 'truck']);
  expect(metadata).toMatchObject({ task: 'detect', stride: '32', license: 'Apache-2.0' });
});

it('rejects with a code of the table', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lattice-onnx-'));
  const path = join(folder, 'cut.onnx');
  writeFileSync(path, Buffer.from([0x08, 0x08, 0x3a, 0xff, 0x01, 0x00]));
  await expect(describeModel(path)).rejects.toMatchObject({ code: 'invalid_model' });
  rmSync(folder, { recursive: true });
  await expect(describeModel(path)).rejects.toMatchObject({ code: 'unknown_model' });
});

it('takes a path only', () => {
  const addon = loadAddon() as unknown as { describeModel(path?: unknown): unknown };
  expect(() => addon.describeModel()).toThrow(TypeError);
});
