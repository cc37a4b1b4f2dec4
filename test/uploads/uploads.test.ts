/** Uploads on a real store and disk: what is kept, what goes and when, within a quota. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { UploadedFiles } from '../../src/uploads/uploaded-files.js';
import { IDLE_SECONDS, Uploads } from '../../src/uploads/uploads.js';
import { openStore } from '../../src/store/service-store.js';
import { ended, openTestJobs, specOf, TemporaryFolder } from '../jobs/job-folder.js';
import { silent } from '../support/silent-logger.js';
import { until } from '../support/eventually.js';

const MEBIBYTE = 2 ** 20;
const LIMITS = { maxBytes: 8 * MEBIBYTE, maxFileBytes: MEBIBYTE, maxFiles: 100 };
const JPEG = Buffer.from('\xFF\xD8\xFF', 'latin1');
const jpeg = (bytes = 5_000) => Buffer.concat([JPEG, Buffer.alloc(bytes - JPEG.length, 7)]);

function fileOf(name: string, bytes = jpeg(), isLengthKnown = true) {
  const chunks = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, at) =>
    bytes.subarray(at * 65_536, (at + 1) * 65_536),
  );
  return {
    name,
    body: Readable.from(chunks.length === 0 ? [Buffer.alloc(0)] : chunks),
    bytes: isLengthKnown ? bytes.length : null,
    modifiedAt: null,
  };
}

async function openUploads(folder: TemporaryFolder, limits = LIMITS) {
  const store = await openStore(folder.path);
  const clock = { now: 0 };
  const files = await UploadedFiles.open(folder.path, limits);
  const uploads = new Uploads({ store, files, off: null, logger: silent, now: () => clock.now });
  const create = async (keyId: string | null = null) =>
    (await uploads.create([], keyId)).upload.uploadId;
  return {
    store,
    clock,
    uploads,
    files,
    create,
    onDisk: (id: string) => existsSync(join(folder.path, 'uploads', id)),
    [Symbol.asyncDispose]: () => store.close(),
  };
}

describe('the list', () => {
  test('has the uploads of an owner, newest first, page by page, and says what became of each', async () => {
    using folder = new TemporaryFolder();
    await using rig = await openUploads(folder);
    const made: string[] = [];
    for (let n = 0; n < 5; n += 1) made.push(await rig.create('north'));
    const other = await rig.create('south');
    await rig.uploads.write(made[4] ?? '', 'north', fileOf('a.jpg'));
    const all = await rig.uploads.list('north', { limit: 100, cursor: null });
    expect(all.nextCursor).toBeNull();
    expect(all.uploads.map(({ uploadId }) => uploadId).sort()).toEqual([...made].sort());
    const times = all.uploads.map(({ createdAt }) => createdAt ?? 0);
    expect(times).toEqual([...times].sort((a, b) => b - a));
    expect(all.uploads.find(({ uploadId }) => uploadId === made[4])).toMatchObject({
      state: 'waiting',
      files: 1,
      bytes: 8_192,
      createdAt: expect.closeTo(Date.now() / 1_000, -2),
      expiresAt: expect.closeTo(Date.now() / 1_000 + IDLE_SECONDS, -2),
    });
    const pages: string[][] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await rig.uploads.list('north', { limit: 2, cursor: cursor ?? null });
      pages.push(page.uploads.map(({ uploadId }) => uploadId));
      cursor = page.nextCursor;
    }
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(pages.flat()).toEqual(all.uploads.map(({ uploadId }) => uploadId));
    const everyone = await rig.uploads.list(null, { limit: 100, cursor: null });
    expect(everyone.uploads.map(({ uploadId }) => uploadId)).toContain(other);
    const bad = { limit: 1, cursor: 'none' };
    await expect(rig.uploads.list('north', bad)).rejects.toMatchObject({
      code: 'validation_failed',
    });
  });
});

describe('files', () => {
  test('are there whole under their names, and a repeat takes the place of the first', async () => {
    using folder = new TemporaryFolder();
    await using rig = await openUploads(folder);
    const id = await rig.create();
    expect(await rig.uploads.write(id, null, fileOf('a/b.jpg'))).toEqual({
      bytes: 5_000,
      replaced: false,
    });
    const longer = jpeg(300_000);
    const replaced = await rig.uploads.write(id, null, fileOf('a/b.jpg', longer, false));
    expect(replaced).toEqual({ bytes: 300_000, replaced: true });
    const borrowed = await rig.uploads.borrow(id, 'a/b.jpg');
    expect(borrowed.bytes.equals(longer)).toBe(true);
    borrowed.release();
    expect(await rig.uploads.get(id, null)).toMatchObject({ files: 1, bytes: 303_104 });
    expect(readdirSync(join(folder.path, 'uploads', id, 'parts'))).toEqual([]);
  });

  test('that are none to read are refused, counted once, and leave nothing', async () => {
    using folder = new TemporaryFolder();
    await using rig = await openUploads(folder);
    const { upload, leftOut } = await rig.uploads.create(
      [
        { name: 'a.jpg', bytes: 5_000 },
        { name: 'b.heic', bytes: 5_000 },
        { name: 'c.mov', bytes: 5e9 },
        { name: 'd.jpg', bytes: MEBIBYTE + 1 },
        { name: 'e.jpg', bytes: 0 },
        { name: '../f.jpg' },
      ],
      null,
    );
    expect(leftOut.map(({ name, kind }) => [name, kind])).toEqual([
      ['b.heic', 'HEIC'],
      ['c.mov', 'video'],
      ['d.jpg', 'too large'],
      ['e.jpg', 'empty file'],
      ['../f.jpg', 'unusable name'],
    ]);
    const id = upload.uploadId;
    const heic = Buffer.concat([Buffer.from('\0\0\0\x18ftypheic'), Buffer.alloc(9_000)]);
    for (let round = 0; round < 2; round += 1) {
      await expect(rig.uploads.write(id, null, fileOf('g.jpg', heic))).rejects.toMatchObject({
        code: 'unsupported_image_format',
        kind: 'HEIC',
      });
    }
    await expect(
      rig.uploads.write(id, null, fileOf('h.jpg', jpeg(MEBIBYTE + 1), false)),
    ).rejects.toMatchObject({ code: 'image_too_large' });
    await expect(rig.uploads.forJob(id, null)).rejects.toThrow(
      /no pictures; 6 files left out: 2 HEIC, /,
    );
    await rig.uploads.write(id, null, fileOf('g.jpg'));
    const { leftOut: count } = await rig.uploads.forJob(id, null);
    expect(count(['g.jpg'])).toEqual({
      HEIC: 1,
      video: 1,
      'too large': 1,
      'empty file': 1,
      'unusable name': 1,
    });
    expect(readdirSync(join(folder.path, 'uploads', id, 'files'))).toEqual(['g.jpg']);
    expect(readdirSync(join(folder.path, 'uploads', id, 'parts'))).toEqual([]);
  });

  test('a name is a file or a folder', async () => {
    using folder = new TemporaryFolder();
    await using rig = await openUploads(folder);
    const id = await rig.create();
    await rig.uploads.write(id, null, fileOf('a.jpg'));
    await rig.uploads.write(id, null, fileOf('b.jpg/c.jpg'));
    for (const name of ['a.jpg/b.jpg', 'b.jpg']) {
      await expect(rig.uploads.write(id, null, fileOf(name))).rejects.toMatchObject({
        code: 'validation_failed',
      });
    }
  });

  test('a body that ends early leaves nothing', async () => {
    using folder = new TemporaryFolder();
    await using rig = await openUploads(folder);
    const id = await rig.create();
    const body = Readable.from(
      (function* () {
        yield jpeg(70_000);
        throw new Error('aborted');
      })(),
    );
    await expect(rig.uploads.write(id, null, { ...fileOf('a.jpg'), body })).rejects.toMatchObject({
      code: 'bad_request',
    });
    expect(await rig.uploads.get(id, null)).toMatchObject({ files: 0, bytes: 0 });
    expect(rig.files.freeBytes).toBe(LIMITS.maxBytes);
    expect(readdirSync(join(folder.path, 'uploads', id, 'parts'))).toEqual([]);
  });
});

describe('the quota', () => {
  test('holds for a plan, for a file of known length and in the middle of another', async () => {
    using folder = new TemporaryFolder();
    await using rig = await openUploads(folder, { ...LIMITS, maxBytes: MEBIBYTE });
    const full = { code: 'uploads_full' };
    const planned = [0, 1].map((n) => ({ name: `${n}.jpg`, bytes: 600_000 }));
    await expect(rig.uploads.create(planned, null)).rejects.toMatchObject(full);
    const id = await rig.create();
    await rig.uploads.write(id, null, fileOf('a.jpg', jpeg(600_000)));
    for (const isLengthKnown of [true, false]) {
      const more = fileOf('b.jpg', jpeg(600_000), isLengthKnown);
      await expect(rig.uploads.write(id, null, more)).rejects.toMatchObject(full);
    }
    expect(await rig.uploads.get(id, null)).toMatchObject({ files: 1, bytes: 602_112 });
    // A file that is replaced makes room again.
    await rig.uploads.write(id, null, fileOf('a.jpg'));
    await rig.uploads.write(id, null, fileOf('b.jpg', jpeg(600_000)));
    await rig.uploads.remove(id, null);
    expect(rig.files.freeBytes).toBe(MEBIBYTE);
  });

  test('is counted from what is on disk at the start', async () => {
    using folder = new TemporaryFolder();
    {
      await using rig = await openUploads(folder);
      const id = await rig.create();
      await rig.uploads.write(id, null, fileOf('a/b.jpg', jpeg(600_000)));
    }
    await using rig = await openUploads(folder);
    expect(rig.files.freeBytes).toBe(LIMITS.maxBytes - 602_112);
  });

  test('bounds files of an upload, and uploads that wait for a job', async () => {
    using folder = new TemporaryFolder();
    await using rig = await openUploads(folder, { ...LIMITS, maxFiles: 2 });
    const ids = [];
    for (let n = 0; n < 64; n += 1) ids.push(await rig.create('north'));
    await expect(rig.create('north')).rejects.toMatchObject({ code: 'rate_limited' });
    await rig.create('south');
    const [id = ''] = ids;
    await rig.uploads.write(id, 'north', fileOf('a.jpg'));
    await rig.uploads.write(id, 'north', fileOf('b.jpg'));
    await expect(rig.uploads.write(id, 'north', fileOf('c.jpg'))).rejects.toMatchObject({
      code: 'validation_failed',
    });
  });
});

describe('an upload without a job', () => {
  test('goes an hour after its last use, but not while a file is written', async () => {
    using folder = new TemporaryFolder();
    await using rig = await openUploads(folder);
    const id = await rig.create();
    rig.clock.now += IDLE_SECONDS * 1_000 - 1;
    await rig.uploads.write(id, null, fileOf('a.jpg'));
    rig.clock.now += IDLE_SECONDS * 1_000 - 1;
    await rig.uploads.sweep();
    expect(rig.onDisk(id)).toBe(true);
    let go: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    const body = Readable.from(
      (async function* () {
        yield jpeg(70_000);
        await held;
        yield jpeg(70_000);
      })(),
    );
    const written = rig.uploads.write(id, null, { ...fileOf('b.jpg'), bytes: null, body });
    await until(
      () => readdirSync(join(folder.path, 'uploads', id, 'parts')).length > 0,
      'the part',
    );
    rig.clock.now += IDLE_SECONDS * 1_000;
    await rig.uploads.sweep();
    expect(rig.onDisk(id)).toBe(true);
    go();
    await written;
    rig.clock.now += IDLE_SECONDS * 1_000;
    await rig.uploads.sweep();
    expect(rig.onDisk(id)).toBe(false);
    expect(rig.files.freeBytes).toBe(LIMITS.maxBytes);
    await expect(rig.uploads.get(id, null)).rejects.toMatchObject({ code: 'upload_not_found' });
  });

  test('a folder that a kill left behind goes with the next sweep, half a file at the start', async () => {
    using folder = new TemporaryFolder();
    let id: string;
    {
      await using rig = await openUploads(folder);
      id = await rig.create();
      await rig.uploads.write(id, null, fileOf('a.jpg'));
    }
    writeFileSync(join(folder.path, 'uploads', id, 'parts', 'half'), jpeg());
    const orphan = join(folder.path, 'uploads', `up_${'x'.repeat(24)}`);
    mkdirSync(join(orphan, 'files'), { recursive: true });
    writeFileSync(join(orphan, 'files', 'a.jpg'), jpeg());
    const foreign = join(folder.path, 'uploads', 'note.txt');
    writeFileSync(foreign, 'of the operator');
    await using rig = await openUploads(folder);
    expect(existsSync(join(folder.path, 'uploads', id, 'parts'))).toBe(false);
    await rig.uploads.sweep();
    expect([existsSync(orphan), existsSync(foreign), rig.onDisk(id)]).toEqual([false, true, true]);
    expect(rig.files.freeBytes).toBe(LIMITS.maxBytes - 8_192);
    expect(await rig.uploads.get(id, null)).toMatchObject({ files: 1 });
  });
});

test('another owner has no part of it', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder, { limits: LIMITS });
  const { uploads } = jobs;
  const id = (await uploads.create([], 'north')).upload.uploadId;
  await uploads.write(id, 'north', fileOf('a.jpg'));
  const refused = { code: 'upload_not_found' };
  await expect(uploads.get(id, 'south')).rejects.toMatchObject(refused);
  await expect(uploads.write(id, 'south', fileOf('b.jpg'))).rejects.toMatchObject(refused);
  await expect(uploads.read(id, 'a.jpg', 'south')).rejects.toMatchObject(refused);
  await expect(uploads.remove(id, 'south')).rejects.toMatchObject(refused);
  await expect(uploads.forJob(id, 'south')).rejects.toMatchObject(refused);
  const spec = specOf({ keyId: 'south', upload: id });
  await expect(jobs.service.submit(spec)).rejects.toMatchObject(refused);
  for (const wrong of ['../../jobs', 'up_short', `${id}/..`]) {
    await expect(uploads.get(wrong, null)).rejects.toMatchObject(refused);
  }
  for (const path of ['../../../jobs.db', '/etc/passwd', 'a\0.jpg']) {
    await expect(uploads.read(id, path, 'north')).rejects.toMatchObject({
      code: 'path_not_allowed',
    });
  }
});

test('the photos of a job reach the detector, outlive a restart and a retry, and go with the last of their jobs', async () => {
  using folder = new TemporaryFolder();
  const opened = await openTestJobs(folder, { limits: LIMITS, retentionIntervalMs: 20 });
  const { uploads } = opened;
  const id = (await uploads.create([], null)).upload.uploadId;
  await uploads.write(id, null, fileOf('a/b.jpg', jpeg(70_000)));
  const spec = specOf({ imagePaths: ['a/b.jpg', 'a/gone.jpg'], upload: id });
  opened.detector.answer = () => 'hang';
  const first = (await opened.service.submit(spec)).job.jobId;
  await until(() => opened.detector.inFlight === 1, 'the image in the detector');
  const [sent] = opened.detector.requests;
  expect(sent?.path).toBe('a/b.jpg');
  expect(sent?.image?.equals(jpeg(70_000))).toBe(true);
  await expect(uploads.write(id, null, fileOf('c.jpg'))).rejects.toMatchObject({
    code: 'upload_in_use',
  });
  await expect(uploads.remove(id, null)).rejects.toMatchObject({ code: 'upload_in_use' });
  const onDisk = () => existsSync(join(folder.path, 'uploads', id, 'files', 'a', 'b.jpg'));

  await using jobs = await opened.reopen();
  expect(await ended(jobs.service, first)).toMatchObject({ status: 'completed', failedImages: 1 });
  const images = await jobs.service.images(first);
  expect(images[1]?.outcome).toMatchObject({ error: { code: 'image_not_found' } });
  const second = (await jobs.service.retry(first, null, { images: 'all' })).job;
  expect(second.spec.upload).toBe(id);
  await ended(jobs.service, second.jobId);
  expect(jobs.detector.paths).toEqual(['a/b.jpg', 'a/b.jpg']);
  await jobs.uploads.sweep();
  expect(onDisk()).toBe(true);

  // Both jobs are over their time.
  await using later = await jobs.reopen({ resultTtlHours: 1e-9, historyHours: 1e-9 });
  await until(() => !existsSync(join(folder.path, 'uploads', id)), 'the removal');
  await expect(later.service.get(first, null)).rejects.toMatchObject({ code: 'job_not_found' });
  expect(readFileSync(join(folder.path, 'owner.pid'), 'utf8')).not.toBe('');
});

test.each([
  ['is 0', { ...LIMITS, maxBytes: 0 }, []],
  ['lies beneath an image folder', LIMITS, ['']],
])('none are taken where the quota or the data folder %s', async (_what, limits, roots) => {
  using folder = new TemporaryFolder();
  const imageRoots = roots.map((root) => join(folder.path, root));
  await using jobs = await openTestJobs(folder, { limits, imageRoots });
  await expect(jobs.uploads.create([], null)).rejects.toMatchObject({ code: 'not_found' });
});
