/** A service one of whose image folders lies on a volume that does not answer any more. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdFolder } from '../support/held-folder.js';
import {
  call,
  detect,
  expectVehicles,
  FEW_THREADS,
  PICTURE,
  resultOf,
  statusOf,
  submit,
} from '../support/service-client.js';
import { startService } from '../support/service-process.js';

let folder: string;
let gone: string;
let well: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-volumes-'));
  [gone, well] = [join(folder, 'gone'), join(folder, 'well')];
  for (const root of [gone, well]) {
    mkdirSync(root);
    cpSync(PICTURE, join(root, 'shapes.png'));
  }
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('only its images wait, a stop does not, and they run when the volume is back', async ({
  skip,
}) => {
  const env = { ...FEW_THREADS, LATTICE_IMAGE_ROOTS: `${gone}:${well}` };
  const dataDir = join(folder, 'data');
  await using service = await startService({ env, dataDir });
  const lost = { image_path: join(gone, 'shapes.png') };
  const fine = { image_path: join(well, 'shapes.png') };
  expectVehicles((await detect(service.url, lost)).body.detections);

  await using held = await holdFolder(gone);
  if (held === null) {
    skip();
    return;
  }
  const jobs = (path: string) => submit(service.url, { image_paths: Array<string>(20).fill(path) });
  const waiting = await jobs(lost.image_path);
  const given = Array.from({ length: 12 }, () => detect(service.url, lost));
  // The loss of the volume is not known yet, and images on other volumes do not wait for it.
  const other = detect(service.url, fine);
  expect(await Promise.race([other, ...given])).toBe(await other);
  expectVehicles((await other).body.detections);
  for (const { status, body, headers } of await Promise.all(given)) {
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'volume_unavailable' });
    expect(body.detail).not.toContain(folder);
    expect(headers.has('retry-after')).toBe(true);
  }
  expect((await detect(service.url, lost)).status).toBe(503);
  expectVehicles((await detect(service.url, fine)).body.detections);
  const done = await resultOf(service.url, await jobs(fine.image_path));
  expect(done.result).toMatchObject({ succeeded: 20, failed: 0 });
  expect(await statusOf(service.url, waiting)).toMatchObject({
    status: 'running',
    finished_images: 0,
  });
  const { body } = await call(service.url, '/v1/cluster/status');
  expect(body.engine).toMatchObject({ hanging_folders: 1 });

  const line = 'the volume of an image folder does not answer';
  for (let i = 0; i < 100 && !service.output().includes(line); i += 1) await sleep(50);
  expect(service.output()).toContain(line);
  const exited = service.kill('SIGTERM');
  expect(await Promise.race([exited, sleep(15_000, 'it still runs')])).toBe(0);
  await held.release();
  await using next = await startService({ env, dataDir });
  const { result } = await resultOf(next.url, waiting);
  expect(result).toMatchObject({ succeeded: 20, failed: 0 });
});
