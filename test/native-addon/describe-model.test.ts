import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadAddon } from '../../src/native/addon-loader.js';
import { describeModel, openCore, readModel } from '../../src/native/core.js';
import { PACKAGE_ROOT } from '../../src/base/package.js';
import { centreAndSize, layoutNetwork } from '../support/layout-models.js';
import { onnxFile } from '../support/onnx-file.js';
import { coreOptions } from './open-test-core.js';

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

it('the digest of a model covers the weights that lie beside it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lattice-onnx-'));
  const path = join(folder, 'm.onnx');
  const names = ['car'];
  const at = (row: number, column: number) => (row < 4 ? centreAndSize(column, row) : 0.1);
  const network = layoutNetwork({ names, rows: 5, columns: 100, at });
  const tensors = network.tensors.map((tensor) =>
    tensor.name === 'table' ? { ...tensor, beside: { location: 'w.bin', offset: 0 } } : tensor,
  );
  writeFileSync(path, onnxFile({ ...network, tensors }));
  const core = openCore(coreOptions());
  const digests: string[] = [];
  for (const values of [Buffer.alloc(2_000, 1), Buffer.alloc(2_000, 2)]) {
    writeFileSync(join(folder, 'w.bin'), values);
    const { sha256 } = await core.loadModel(path);
    expect(sha256).toBe(
      createHash('sha256')
        .update(await readModel(path))
        .digest('hex'),
    );
    digests.push(sha256);
  }
  expect(new Set(digests).size).toBe(2);
  await core.close();
  rmSync(folder, { recursive: true });
});

it('takes a path only', () => {
  type Misused = Record<'describeModel' | 'readModel', (path?: unknown) => unknown>;
  const addon = loadAddon() as unknown as Misused;
  expect(() => addon.describeModel()).toThrow(TypeError);
  expect(() => addon.readModel(7)).toThrow(TypeError);
});
