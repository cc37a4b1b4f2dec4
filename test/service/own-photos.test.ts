/** Photos of one's own as a job of a real service: 100 of a folder with others beside them, kills, owners, limits. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LatticeClient, type PhotoFile } from '../../src/client/lattice-client.js';
import { runProgram } from '../../src/cli/python-environment.js';
import { installPythonPackage } from '../support/python-package.js';
import { run } from '../cli/run.js';
import { call, PICTURE } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';

const MEBIBYTE = 2 ** 20;
const KEYS = { north: 'north-gate-0123456789', south: 'south-gate-0123456789' };
const PHOTOS = 100;
const LEFT_OUT = { HEIC: 6, 'other file': 1, 'hidden file': 1, video: 1 };

let folder: string;
let holiday: string;
let jpeg: Buffer;
let service: ServiceProcess;
const north = () => new LatticeClient({ url: service.url, apiKey: KEYS.north });
const south = () => new LatticeClient({ url: service.url, apiKey: KEYS.south });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-own-photos-'));
  holiday = join(folder, 'holiday');
  mkdirSync(join(holiday, 'day 2'), { recursive: true });
  jpeg = await sharp(PICTURE).removeAlpha().jpeg({ quality: 95 }).toBuffer();
  for (let n = 0; n < PHOTOS; n += 1) {
    const name = `${n % 2 === 0 ? '' : 'day 2/'}IMG_${String(n).padStart(4, '0')}.jpg`;
    writeFileSync(join(holiday, name), jpeg);
  }
  for (let n = 0; n < 6; n += 1) writeFileSync(join(holiday, `IMG_9${n}.HEIC`), 'ftypheic');
  writeFileSync(join(holiday, 'clip.MOV'), 'ftypqt');
  writeFileSync(join(holiday, '.DS_Store'), 'x');
  writeFileSync(join(holiday, 'no-picture.jpg'), 'not a picture');
  writeFileSync(join(holiday, 'broken.jpg'), jpeg.subarray(0, 2_000));
  const keys = join(folder, 'keys.txt');
  writeFileSync(keys, `${KEYS.north} north\n${KEYS.south} south\n`);
  writeFileSync(join(folder, 'north.key'), KEYS.north);
  service = await startService({
    env: { LATTICE_API_KEYS_FILE: keys, LATTICE_UPLOADS_MAX_MB: '400' },
  });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

function photosOf(): PhotoFile[] {
  const names = readdirSync(holiday, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => /\.\w+$/.test(name))
    .map((name) => {
      const bytes = readFileSync(join(holiday, name));
      return { name: `holiday/${name}`, data: new Blob([bytes]), bytes: bytes.length };
    });
}

async function expectHoliday(jobId: string): Promise<void> {
  const job = await north().waitFor(jobId);
  const counts = { image_count: PHOTOS + 1, failed_images: 1 };
  expect(job).toMatchObject({ ...counts, status: 'completed', title: 'holiday' });
  const summary = await north().summary(jobId);
  expect(summary.left_out).toEqual(LEFT_OUT);
  expect(summary.total_count).toBeGreaterThan(PHOTOS);
  const { images } = await north().images(jobId, { outcome: 'failed' });
  expect(images.map(({ image_path }) => image_path)).toEqual(['holiday/broken.jpg']);
}

describe('100 photos of a folder with HEIC, a video and a broken one', () => {
  test('by the command line', async () => {
    const access = ['--url', service.url, '--api-key-file', join(folder, 'north.key')];
    const submit = ['job', 'submit', ...access, '--upload', holiday, '--wait'];
    const { out, err, code } = await run(...submit);
    expect(code).toBe(3);
    expect(err).toContain('8 files left out: 6 HEIC, 1 ');
    expect(err).toContain("'holiday/no-picture.jpg' is left out (other file).");
    expect(err).toMatch(/100 done, 1 failed/);
    expect(err).toMatch(/9 files left out: 6 HEIC, 1 [a-z]+/);
    await expectHoliday(out.trim());
    const { out: shown } = await run('job', 'status', ...access, out.trim());
    expect(shown).toContain('9 files left out: 6 HEIC');
  });

  test('by the Node client', async () => {
    const seen: number[] = [];
    const { job_id, message } = await north().submitFiles(
      { job_type: 'batch_detect' },
      photosOf(),
      { onProgress: ({ bytes, ofBytes }) => seen.push(bytes / ofBytes) },
    );
    expect(message).toMatch(/^Job accepted with 101 images; left out: 6 HEIC, /);
    expect(seen.at(-1)).toBe(1);
    await expectHoliday(job_id);
  });

  test('by the Python client', async () => {
    using installed = await installPythonPackage();
    const script =
      'import sys; from lattice_client import Lattice; ' +
      'print(Lattice(base_url=sys.argv[1], api_key=sys.argv[2]).submit(upload=sys.argv[3], job_type="batch_detect").job_id)';
    const args = ['-B', '-c', script, service.url, KEYS.north, holiday];
    const out = await runProgram(installed.python, args);
    await expectHoliday(out.trim());
  });
});

describe('one photo over HTTP', () => {
  const bearer = { authorization: `Bearer ${KEYS.north}` };
  const put = (id: string, name: string, body = new Uint8Array(jpeg)) =>
    call(service.url, `/v1/uploads/${id}/${name}`, { method: 'PUT', headers: bearer, body });

  test.each([
    ['a%2F..%2F..%2Fb.jpg', 422],
    ['%2Fetc%2Fb.jpg', 422],
    [`${'x'.repeat(300)}.jpg`, 422],
    ['.hidden.jpg', 422],
    ['%E6%97%A5%E6%9C%AC/%C3%A9.jpg', 201],
    ['a/b/c.jpg', 201],
    ['a%2Fb%2Fd.jpg', 201],
  ])('%s is answered %i', async (name, status) => {
    const { upload_id: id } = await north().uploads.create();
    expect((await put(id, name)).status).toBe(status);
    await north().uploads.remove(id);
  });

  test('a part of a file is refused: it would take the place of the whole', async () => {
    const { upload_id: id } = await north().uploads.create();
    expect((await put(id, 'a.jpg')).status).toBe(201);
    const headers = { ...bearer, 'content-range': 'bytes 100-199/5000' };
    const url = `/v1/uploads/${id}/a.jpg`;
    const body = new Uint8Array(jpeg.subarray(100, 200));
    const part = await call(service.url, url, { method: 'PUT', headers, body });
    expect([part.status, part.body.code]).toEqual([400, 'bad_request']);
    expect(part.body.detail).toContain('Content-Range');
    expect((await put(id, 'a.jpg')).status).toBe(200);
    await north().uploads.remove(id);
  });

  test('no room for more is the state of the quota, a warning without a stack', async () => {
    const files = [...Array(7).keys()].map((n) => ({ name: `${n}.jpg`, bytes: 60 * MEBIBYTE }));
    await expect(north().uploads.create({ files })).rejects.toMatchObject({ status: 507 });
    interface Line {
      level: string;
      code?: string;
      msg: string;
      detail?: string;
      err?: unknown;
    }
    const lines = () =>
      service
        .stdout()
        .split('\n')
        .filter((line) => line.includes('uploads_full'))
        .map((line) => JSON.parse(line) as Line);
    await expect
      .poll(() => lines().map(({ msg }) => msg))
      .toContain('POST /v1/uploads has no room');
    expect(lines().filter(({ level, err }) => level === 'error' || err !== undefined)).toEqual([]);
    expect(lines().find(({ detail }) => detail !== undefined)?.detail).toContain(
      'LATTICE_UPLOADS_MAX_MB',
    );
  });

  test('the client lists uploads of its key, with what became of them', async () => {
    const { upload_id: id } = await north().uploads.create();
    await put(id, 'a.jpg');
    const listed = async () => {
      const found = [];
      for await (const upload of north().uploads.list()) found.push(upload);
      return found.find(({ upload_id }) => upload_id === id);
    };
    expect(await listed()).toEqual({
      ...(await north().uploads.get(id)),
      expires_at: expect.any(Number),
    });
    expect(await listed()).toMatchObject({ state: 'waiting', files: 1 });
    const job = { job_type: 'batch_detect' as const, image_paths: ['.'], upload: id };
    const { job_id } = await north().submit(job);
    expect(await listed()).toMatchObject({ state: 'in_use', expires_at: null });
    for await (const upload of south().uploads.list()) expect(upload.upload_id).not.toBe(id);
    await north().waitFor(job_id);
  });

  test('a name that the address itself resolves leads to no other route', async () => {
    const { upload_id: id } = await north().uploads.create();
    expect((await put(id, '../../b.jpg')).status).toBe(404);
    await north().uploads.remove(id);
  });

  test('another key sees neither the upload nor its pictures nor the job', async () => {
    const { upload_id: id } = await north().uploads.create();
    await put(id, 'a.jpg');
    const refused = { code: 'upload_not_found' };
    await expect(south().uploads.get(id)).rejects.toMatchObject(refused);
    await expect(south().uploads.remove(id)).rejects.toMatchObject(refused);
    const job = { job_type: 'batch_detect' as const, image_paths: ['.'], upload: id };
    await expect(south().submit(job)).rejects.toMatchObject(refused);
    const { job_id } = await north().submit(job);
    await north().waitFor(job_id);
    await expect(south().picture('a.jpg', 64, { upload: id })).rejects.toMatchObject(refused);
    await expect(south().status(job_id)).rejects.toMatchObject({ code: 'job_not_found' });
    expect((await north().picture('a.jpg', 64, { upload: id })).type).toBe('image/jpeg');
    // By no other way either.
    for (const path of [`${id}/files/a.jpg`, `uploads/${id}/files/a.jpg`, 'a.jpg']) {
      await expect(north().picture(path)).rejects.toMatchObject({ code: 'image_not_found' });
    }
    const file = join(service.dataDir, 'uploads', id, 'files', 'a.jpg');
    expect(existsSync(file)).toBe(true);
    await expect(north().picture(file)).rejects.toMatchObject({ code: 'path_not_allowed' });
    await expect(north().submit({ ...job, image_paths: [file] })).rejects.toMatchObject({
      code: 'path_not_allowed',
    });
    let drawn = 0;
    for await (const chunk of north().drawn(job_id)) drawn += chunk.length;
    expect(drawn).toBeGreaterThan(10_000);
  });

  test('the memory of the service stays flat while files of the largest size are sent', async () => {
    const memory = (name: string) => {
      const status = readFileSync(`/proc/${service.pid}/status`, 'utf8');
      return Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
    };
    writeFileSync(`/proc/${service.pid}/clear_refs`, '5');
    const before = memory('VmRSS');
    const { upload_id: id } = await north().uploads.create();
    for (let n = 0; n < 4; n += 1) {
      expect(await sendLargest(`${service.url}/v1/uploads/${id}/${n}.jpg`, bearer)).toBe(201);
    }
    const grown = memory('VmHWM') - before;
    console.info(`memory grew by ${(grown / MEBIBYTE).toFixed(1)} MiB`);
    // Less than one of the files.
    expect(grown).toBeLessThan(64 * MEBIBYTE);
    expect(await north().uploads.get(id)).toMatchObject({ files: 4, bytes: 256 * MEBIBYTE });
    const tooMuch = { files: [0, 1, 2].map((n) => ({ name: `${n}.jpg`, bytes: 60 * MEBIBYTE })) };
    const full = { code: 'uploads_full', status: 507 };
    await expect(north().uploads.create(tooMuch)).rejects.toMatchObject(full);
    // There is room for one more, which a key that is beyond its fair share leaves to the others.
    expect((await north().uploads.get(id)).free_bytes).toBeGreaterThan(64 * MEBIBYTE);
    expect(await sendLargest(`${service.url}/v1/uploads/${id}/more.jpg`, bearer)).toBe(429);
    await north().uploads.remove(id);
    expect((await north().uploads.create(tooMuch)).free_bytes).toBeGreaterThan(250 * MEBIBYTE);
  });

  /** 64 MiB in pieces; resolves with the status. */
  function sendLargest(url: string, headers: Record<string, string>): Promise<number> {
    return new Promise((resolve, reject) => {
      const length = { 'content-length': 64 * MEBIBYTE };
      const sent = request(url, { method: 'PUT', headers: { ...headers, ...length } });
      sent.on('error', reject).on('response', (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      const piece = Buffer.alloc(MEBIBYTE, jpeg.subarray(0, 4_096));
      let left = 64;
      const more = () => {
        while (left > 0) {
          left -= 1;
          if (
            !sent.write(
              left === 63 ? Buffer.concat([jpeg.subarray(0, 16), piece.subarray(16)]) : piece,
            )
          ) {
            sent.once('drain', more);
            return;
          }
        }
        sent.end();
      };
      more();
    });
  }
});

test('kill -9 between files and before the submission: what was sent is still there, and nothing is left over', async () => {
  const dataDir = join(folder, 'data');
  const first = await startService({ dataDir });
  const photos = photosOf().filter(({ name }) => /IMG_00[01]\d\.jpg/.test(name));
  const client = new LatticeClient({ url: first.url });
  const { upload_id: id } = await client.uploads.create();
  await client.uploads.send(id, photos.slice(0, 10));
  // In the midst of another file.
  const open = request(`${first.url}/v1/uploads/${id}/half.jpg`, { method: 'PUT' });
  open.on('error', () => undefined);
  open.write(jpeg.subarray(0, 9_000));
  const parts = join(dataDir, 'uploads', id, 'parts');
  while (readdirSync(parts).length === 0) await sleep(10);
  await first.kill('SIGKILL');

  const second = await startService({ dataDir });
  expect(existsSync(parts)).toBe(false);
  const again = new LatticeClient({ url: second.url });
  expect(await again.uploads.get(id)).toMatchObject({ files: 10 });
  await again.uploads.send(id, photos);
  await second.kill('SIGKILL');

  await using third = await startService({ dataDir });
  const last = new LatticeClient({ url: third.url });
  const { job_id } = await last.submit({
    job_type: 'batch_detect',
    image_paths: ['.'],
    upload: id,
  });
  const job = await last.waitFor(job_id);
  expect(job).toMatchObject({ status: 'completed', image_count: 20, failed_images: 0 });
  expect(readdirSync(join(dataDir, 'uploads'))).toEqual([id]);
});
