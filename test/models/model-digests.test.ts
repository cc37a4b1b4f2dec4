/** Digests of real files in a folder that changes. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ModelDigests } from '../../src/models/model-digests.js';
import { ModelFolder } from '../../src/models/model-folder.js';
import { eventual } from '../support/eventually.js';
import { centreAndSize, layoutNetwork } from '../support/layout-models.js';
import { onnxFile } from '../support/onnx-file.js';

let modelsDir: string;
beforeEach(() => {
  modelsDir = mkdtempSync(join(tmpdir(), 'lattice-digests-'));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(modelsDir, { recursive: true });
});

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);
const write = (name: string, text: string) => {
  writeFileSync(join(modelsDir, name), text);
};

async function open(): Promise<ModelDigests> {
  const folder = await ModelFolder.open({ modelsDir, modelFamily: 'yolo' }, modelsDir);
  const digests = new ModelDigests(folder);
  await digests.ready();
  return digests;
}

it('are those of the files, by the names of models', async () => {
  write('a.onnx', 'one');
  write('b.onnx', 'two');
  expect((await open()).current()).toEqual({ 'a.pt': digest('one'), 'b.pt': digest('two') });
});

it('follow a file that is replaced, comes or goes', async () => {
  write('a.onnx', 'one');
  write('b.onnx', 'two');
  const digests = await open();
  write('a.onnx', 'other');
  write('c.onnx', 'three');
  rmSync(join(modelsDir, 'b.onnx'));
  const start = performance.now();
  // A look is made after 5 s, without the wait for it.
  vi.spyOn(performance, 'now').mockImplementation(() => start + 6_000);
  await eventual(() => digests.current()).toEqual({
    'a.pt': digest('other'),
    'c.pt': digest('three'),
  });
});

it('a folder that is not there has none', async () => {
  rmSync(modelsDir, { recursive: true });
  expect((await open()).current()).toEqual({});
  modelsDir = mkdtempSync(join(tmpdir(), 'lattice-digests-'));
});

it('cover weights that lie beside a model, as digests of results do', async () => {
  const at = (row: number, column: number) => (row < 4 ? centreAndSize(column, row) : 0.1);
  const network = layoutNetwork({ names: ['car'], rows: 5, columns: 100, at });
  const beside = { location: 'a.onnx.data', offset: 0 };
  const tensors = network.tensors.map((tensor) =>
    tensor.name === 'table' ? { ...tensor, beside } : tensor,
  );
  writeFileSync(join(modelsDir, 'a.onnx'), onnxFile({ ...network, tensors }));
  const found = [];
  for (const value of [1, 2]) {
    writeFileSync(join(modelsDir, beside.location), Buffer.alloc(2_000, value));
    found.push((await open()).current()['a.pt']);
  }
  expect(found[0]).toMatch(/^[\da-f]{16}$/);
  expect(found[1]).not.toBe(found[0]);
});
