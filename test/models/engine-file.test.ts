import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  listEngineFiles,
  readEngineFile,
  type EngineFilePart,
} from '../../src/models/engine-file.js';
import {
  SAMPLE,
  SAMPLE_HEADER,
  SAMPLE_STEM,
  TEXT_END,
  makeOld,
  storeEngine,
  withHeader,
  writeFile,
} from '../support/engine-folder.js';

const NAME = `${SAMPLE_STEM}.engine`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-engines-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

async function stateOf(name: string, part: EngineFilePart = 'whole') {
  return (await readEngineFile(folder, name, part))?.state;
}

describe('an engine that the native half wrote', () => {
  it('is read with every field of its header', async () => {
    writeFile(folder, NAME, SAMPLE);
    makeOld(folder, NAME, 2);
    const file = await readEngineFile(folder, NAME, 'whole');
    expect(file).toMatchObject({ name: NAME, state: 'ready', reason: '', bytes: SAMPLE.length });
    expect((Date.now() - file!.lastUsed.getTime()) / 3_600_000).toBeCloseTo(48, 1);
    expect(file!.header).toEqual({
      tensorrt_version: '10.15.1.29',
      gpu_name: 'NVIDIA H100 80GB HBM3',
      sm: '9.0',
      model_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      precision: 'fp16',
      buckets: [1, 2, 4, 8, 16, 32],
      input: [640, 640],
      builder_level: 5,
      conversion_version: 1,
      model_name: 'vehicles-v8n.pt',
      created_s: 1_760_000_000,
      build_ms: 183_250,
    });
  });

  it('is never sound with a byte changed', async () => {
    for (let at = 0; at < SAMPLE.length; at++) {
      const bytes = Buffer.from(SAMPLE);
      bytes[at]! ^= 1 << ((at * 7) % 8);
      writeFile(folder, NAME, bytes);
      const expected = at < 8 ? 'foreign' : at < 12 ? 'stale' : 'damaged';
      expect(await stateOf(NAME), `byte ${at}`).toBe(expected);
      // A reader of the header alone cannot know about the plan.
      const ofHeader = at < TEXT_END ? expected : 'ready';
      expect(await stateOf(NAME, 'header'), `byte ${at}`).toBe(ofHeader);
    }
  });

  it('is never sound with another length', async () => {
    for (let size = 0; size < SAMPLE.length; size++) {
      writeFile(folder, NAME, SAMPLE.subarray(0, size));
      expect(await stateOf(NAME, 'header'), `${size} bytes`).toBe('damaged');
    }
    writeFile(folder, NAME, Buffer.concat([SAMPLE, Buffer.of(0)]));
    expect(await stateOf(NAME, 'header')).toBe('damaged');
  });
});

describe('a header', () => {
  it('may hold any text', async () => {
    const changes = { model_name: 'grün\n\\.pt', gpu_name: '' };
    const stem = storeEngine(folder, changes);
    const file = await readEngineFile(folder, `${stem}.engine`);
    expect(file).toMatchObject({ state: 'ready', header: changes });
  });

  it.each([
    ['no JSON', 'model_name=x'],
    ['a value less', { build_ms: undefined }],
    ['no number', { build_ms: 'soon' }],
    ['no size', { input: [640] }],
    ['no date', { created_s: 1e15 }],
  ])('with %s is of another version', async (_what, change) => {
    const text =
      typeof change === 'string' ? change : JSON.stringify({ ...SAMPLE_HEADER, ...change });
    writeFile(folder, NAME, withHeader(text));
    expect(await readEngineFile(folder, NAME)).toMatchObject({ state: 'stale', header: null });
  });
});

describe('a file that is not ours', () => {
  it('is foreign and says what to do', async () => {
    writeFile(folder, 'elsewhere', SAMPLE);
    symlinkSync('elsewhere', join(folder, 'link.engine'));
    mkdirSync(join(folder, 'folder.engine'));
    execFileSync('mkfifo', [join(folder, 'fifo.engine')]);
    writeFile(folder, 'script.engine', '#!/bin/sh');
    writeFile(folder, 'open.engine', SAMPLE);
    chmodSync(join(folder, 'open.engine'), 0o620);
    const files = await listEngineFiles(folder);
    const remedy = 'so it is not used. Remove it from the engine folder, or choose another folder.';
    expect(files.map(({ state, reason }) => ({ state, reason }))).toEqual(
      [
        'fifo.engine is not a regular file',
        'folder.engine is not a regular file',
        'link.engine is a symbolic link',
        'open.engine is writable for others',
        'script.engine was not written by lattice',
      ].map((fact) => ({ state: 'foreign', reason: `${fact}, ${remedy}` })),
    );
  });

  it.skipIf(process.geteuid?.() !== 0)(
    'is foreign when another user owns it (needs root)',
    async () => {
      writeFile(folder, NAME, SAMPLE);
      chownSync(join(folder, NAME), 65534, 65534);
      expect((await readEngineFile(folder, NAME))?.reason).toContain('belongs to another user');
    },
  );

  it('is never sound, whatever its bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.boolean(), async (bytes, likely) => {
        const front = likely ? SAMPLE.subarray(0, 12) : Buffer.of();
        writeFile(folder, NAME, Buffer.concat([front, bytes]));
        expect(await stateOf(NAME)).not.toBe('ready');
      }),
      { numRuns: 200 },
    );
  });
});

describe('a folder', () => {
  it('lists engines only, by name', async () => {
    expect(await listEngineFiles(join(folder, 'none'))).toEqual([]);
    const stems = [storeEngine(folder), storeEngine(folder, { precision: 'fp32' })].sort();
    writeFile(folder, `${SAMPLE_STEM}.lock`, '');
    writeFile(folder, `${SAMPLE_STEM}.engine.partial`, 'half');
    const names = (await listEngineFiles(folder)).map(({ name, state }) => [name, state]);
    expect(names).toEqual(stems.map((stem) => [`${stem}.engine`, 'ready']));
  });

  it('may lose a file while it is read', async () => {
    storeEngine(folder);
    renameSync(join(folder, NAME), join(folder, 'gone'));
    expect(await readEngineFile(folder, NAME)).toBeNull();
  });
});
