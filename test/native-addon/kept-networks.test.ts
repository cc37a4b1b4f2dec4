/** Compiled networks in the folder of engines: what is damaged there is compiled anew, and answers as before. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keep, readKept } from '../../src/native/core.js';
import { openTestCore, ROOT, taskFor } from './open-test-core.js';

const HEAD_BYTES = 64;
/** Where the hash stands in the head. */
const HASH_AT = 32;
/** Numbers of what was found in the model, in front of the network; the place of one of them. */
const FINDINGS = 15;
const CLASSES = 3;

let folder: string;
let path: string;
let whole: Buffer;
let boxes: Float32Array;

interface Loaded {
  boxes: Float32Array;
  wasKept: boolean;
  keptFile: string | null;
  replaced: string[];
}

/** Loads a model as a start of the service does. */
async function load(more: { keptBytes?: number; model?: string } = {}): Promise<Loaded> {
  const { keptBytes, model: file } = more;
  const { core, model } = await openTestCore(
    { device: 'cpu', engineCache: folder, ...(keptBytes === undefined ? {} : { keptBytes }) },
    file,
  );
  try {
    const result = await core.run(taskFor(model, { confidence: 0.01 }));
    return { boxes: result.boxes.slice(), ...model };
  } finally {
    await core.close();
  }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-kept-'));
  const first = await load();
  expect(first).toMatchObject({ wasKept: false, replaced: [] });
  expect(first.boxes.length).toBeGreaterThan(0);
  path = join(folder, first.keptFile!);
  whole = readFileSync(path);
  ({ boxes } = first);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** The boxes are those of before, the file is as good as new, and a later load takes it. */
async function expectMended(why: RegExp): Promise<void> {
  const found = await load();
  expect(found).toMatchObject({ wasKept: false, keptFile: basename(path) });
  expect(found.replaced).toEqual([expect.stringMatching(why)]);
  expect(found.boxes).toEqual(boxes);
  const { ino } = statSync(path);
  const later = await load();
  expect(later).toMatchObject({ wasKept: true, replaced: [] });
  expect(later.boxes).toEqual(boxes);
  expect(statSync(path).ino).toBe(ino);
}

/** With the hash of what it holds now, as a faulty writer would store it. */
function sealed(bytes: Buffer): Buffer {
  const sha256 = (data: Buffer | string) => createHash('sha256').update(data);
  const inner = sha256(bytes.subarray(HEAD_BYTES)).digest('hex');
  const seal = sha256(bytes.subarray(0, HASH_AT))
    .update(`${basename(path)}\0${inner}`)
    .digest();
  return Buffer.concat([bytes.subarray(0, HASH_AT), seal, bytes.subarray(HEAD_BYTES)]);
}

function damaged(at: number, ...values: number[]): Buffer {
  const bytes = Buffer.from(whole);
  bytes.set(values, at);
  return bytes;
}

describe('a kept network', () => {
  it('answers as the compiled one', async () => {
    expect(sealed(whole)).toEqual(whole);
    const later = await load();
    expect(later).toMatchObject({ wasKept: true, keptFile: basename(path), replaced: [] });
    expect(later.boxes).toEqual(boxes);
  });

  it('with zeros in its weights is compiled anew and replaced', async () => {
    writeFileSync(path, Buffer.from(whole).fill(0, whole.length - 60_000, whole.length - 56_000));
    await expectMended(/_cpu_[0-9a-f]+\.network does not hold the bytes that were stored\.$/);
  });

  it.each([
    [
      'cut short',
      () => {
        truncateSync(path, Math.floor(whole.length / 2));
      },
      /has another length/,
    ],
    [
      'empty',
      () => {
        truncateSync(path, 0);
      },
      /is cut short/,
    ],
    [
      'longer',
      () => {
        writeFileSync(path, Buffer.concat([whole, whole]));
      },
      /has another length/,
    ],
    [
      'of another form',
      () => {
        writeFileSync(path, whole.subarray(HEAD_BYTES));
      },
      /no known form/,
    ],
    [
      'of another version',
      () => {
        writeFileSync(path, damaged(16, 2));
      },
      /another version/,
    ],
    [
      'a folder',
      () => {
        rmSync(path);
        mkdirSync(path);
      },
      /is no regular file/,
    ],
    [
      'a link to one that is good',
      () => {
        writeFileSync(join(folder, 'elsewhere'), whole);
        rmSync(path);
        symlinkSync('elsewhere', path);
      },
      /cannot be opened/,
    ],
    [
      'writable for others',
      () => {
        chmodSync(path, 0o622);
      },
      /another user/,
    ],
  ])('that is %s is compiled anew and replaced', async (_what, damage, why) => {
    damage();
    await expectMended(why);
  });

  it('of another CPU, or of another model, is not taken for it', async () => {
    const other = `other_cpu_${'0'.repeat(32)}.network`;
    writeFileSync(join(folder, other), whole, { mode: 0o600 });
    expect(await readKept(folder, other)).toBeNull();
    const bundled = await load({ model: join(ROOT, 'models/vehicles-v8n.onnx') });
    writeFileSync(path, readFileSync(join(folder, bundled.keptFile!)));
    await expectMended(/does not hold the bytes that were stored/);
  });

  it('of more classes than its outputs have is compiled anew, whatever its hash', async () => {
    const bytes = Buffer.from(whole);
    bytes.writeInt32LE(4_000_000, HEAD_BYTES + 4 * CLASSES);
    writeFileSync(path, sealed(bytes));
    await expectMended(/does not describe the network of its model/);
  });

  it('that the library refuses is compiled anew', async () => {
    writeFileSync(path, sealed(Buffer.from(whole).fill(0, HEAD_BYTES + 4 * FINDINGS)));
    await expectMended(/\.network cannot be used: /);
  });

  it('may be replaced or damaged while it runs', async () => {
    const { core, model } = await openTestCore({ device: 'cpu', engineCache: folder });
    const run = async () => (await core.run(taskFor(model, { confidence: 0.01 }))).boxes.slice();
    expect(model.wasKept).toBe(true);
    writeFileSync(path, Buffer.from(whole).fill(0, 1_000));
    expect(await run()).toEqual(boxes);
    rmSync(path);
    expect(await run()).toEqual(boxes);
    writeFileSync(path, damaged(whole.length - 60_000, 1, 2, 3), { mode: 0o600 });
    await core.close();
    await expectMended(/does not hold/);
  });

  it('is compiled anew on demand', async () => {
    const { core, model } = await openTestCore({ device: 'cpu', engineCache: folder });
    expect(model.wasKept).toBe(true);
    const { ino } = statSync(path);
    const anew = await core.loadModel(join(ROOT, 'models/tiny/tiny-v8.onnx'), { anew: true });
    expect(anew).toMatchObject({ wasKept: false, keptFile: basename(path), replaced: [] });
    expect(statSync(path).ino).not.toBe(ino);
    await core.close();
  });

  it('goes once there are more bytes than are kept, those used longest ago first', async () => {
    const networks = () => readdirSync(folder).filter((name) => name.endsWith('.network'));
    for (const name of networks()) if (name !== basename(path)) rmSync(join(folder, name));
    const bundled = await load({ model: join(ROOT, 'models/vehicles-v8n.onnx') });
    const old = new Date(Date.now() - 1e6);
    for (const name of networks()) utimesSync(join(folder, name), old, old);
    const { core, model } = await openTestCore({ device: 'cpu', engineCache: folder });
    utimesSync(path, new Date(0), new Date(0));
    const keptBytes = statSync(path).size + statSync(join(folder, bundled.keptFile!)).size;
    const eightBit = { model: join(ROOT, 'models/vehicles-v8n.int8.onnx'), keptBytes };
    const { keptFile } = await load(eightBit);
    expect(networks().sort()).toEqual([basename(path), keptFile!].sort());
    expect(model.keptFile).toBe(basename(path));
    await core.close();
    expect(await load({ keptBytes: 0 })).toMatchObject({ wasKept: false, keptFile: null });
    expect(await load({ keptBytes: 1_000 })).toMatchObject({ wasKept: true });
  });
});

describe('a kept text', () => {
  it('is read back as it was kept, or not at all', async () => {
    await keep(folder, 'a.agreement', '{"share":0.97}');
    expect(await readKept(folder, 'a.agreement')).toBe('{"share":0.97}');
    expect(await readKept(folder, 'b.agreement')).toBeNull();
    const bytes = readFileSync(join(folder, 'a.agreement'));
    bytes.set(Buffer.from('9'), bytes.length - 2);
    writeFileSync(join(folder, 'a.agreement'), bytes);
    expect(await readKept(folder, 'a.agreement')).toBeNull();
    await expect(keep(join(folder, 'none', 'none'), 'a', '')).rejects.toMatchObject({
      code: 'internal_error',
    });
  });
});
