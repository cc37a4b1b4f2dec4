import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { listStoredEngines } from '../../src/models/stored-engines.js';
import { SAMPLE_STEM, makeOld, storeEngine, writeFile } from '../support/engine-folder.js';

const NAME = `${SAMPLE_STEM}.engine`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-engines-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

it('an engine that the native half wrote is known by its name', async () => {
  storeEngine(folder);
  makeOld(folder, NAME, 2);
  const [file] = await listStoredEngines(folder);
  expect(file).toMatchObject({
    name: NAME,
    state: 'ready',
    reason: '',
    parts: {
      model: 'vehicles-v8n',
      gpu: 'NVIDIA-H100-80GB-HBM3',
      sm: '9.0',
      tensorrt: '10.15.1.29',
      precision: 'fp16',
    },
    bytes: 21,
  });
  expect((Date.now() - file!.lastUsed.getTime()) / 3_600_000).toBeCloseTo(48, 1);
});

it('lists engines only, by name, and none of a folder that is not there', async () => {
  expect(await listStoredEngines(join(folder, 'none'))).toEqual([]);
  const stems = [storeEngine(folder), storeEngine(folder, { precision: 'fp32' })].sort();
  writeFile(folder, `${NAME}.lock`, '');
  writeFile(folder, `${NAME}.partial`, 'half');
  const names = (await listStoredEngines(folder)).map(({ name, state }) => [name, state]);
  expect(names).toEqual(stems.map((stem) => [`${stem}.engine`, 'ready']));
});

it('an engine of an earlier release is stale and says what to do', async () => {
  const name = '9f86d081884c-8f83d88e.engine';
  writeFile(folder, name, 'LATENGIN');
  const reason = `${name} was stored by an earlier release and is not used. Remove it with lattice engine prune.`;
  expect(await listStoredEngines(folder)).toMatchObject([{ name, state: 'stale', reason }]);
});

it('a file that is not ours is foreign and says what to do', async () => {
  writeFile(folder, 'elsewhere', '');
  symlinkSync('elsewhere', join(folder, 'link.engine'));
  mkdirSync(join(folder, 'folder.engine'));
  execFileSync('mkfifo', [join(folder, 'fifo.engine')]);
  writeFile(folder, 'script.engine', '#!/bin/sh');
  writeFile(folder, NAME, '');
  chmodSync(join(folder, NAME), 0o620);
  const files = await listStoredEngines(folder);
  const remedy = 'so it is not used. Remove it from the engine folder, or choose another folder.';
  expect(files.map(({ state, reason, parts }) => ({ state, reason, parts }))).toEqual(
    [
      'fifo.engine is not a regular file',
      'folder.engine is not a regular file',
      'link.engine is a symbolic link',
      'script.engine was not written by lattice',
      `${NAME} is writable for others`,
    ].map((fact) => ({ state: 'foreign', reason: `${fact}, ${remedy}`, parts: null })),
  );
});

it.skipIf(process.geteuid?.() !== 0)(
  'a file is foreign when another user owns it (needs root)',
  async () => {
    writeFile(folder, NAME, '');
    chownSync(join(folder, NAME), 65534, 65534);
    expect((await listStoredEngines(folder))[0]?.reason).toContain('belongs to another user');
  },
);
