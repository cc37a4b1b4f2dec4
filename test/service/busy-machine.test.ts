/**
 * A service on a machine whose CPUs are taken by others: what is slow then is the machine, and nothing else is blamed.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBusyLoops } from '../support/busy-loops.js';
import { call, FEW_THREADS, PICTURE, statusOf } from '../support/service-client.js';
import { startService } from '../support/service-process.js';

const JOBS = 20;
const IMAGES = 3;
const AT_A_TIME = 4;

let folder: string;
let root: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-busy-'));
  root = join(folder, 'root');
  for (let job = 0; job < JOBS; job += 1) {
    mkdirSync(join(root, `day-${job}`), { recursive: true });
    for (let image = 0; image < IMAGES; image += 1)
      cpSync(PICTURE, join(root, `day-${job}`, `${image}.png`));
  }
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('folder and glob jobs are taken or refused for the true reason, and no image is without a time', async () => {
  const env = { ...FEW_THREADS, LATTICE_IMAGE_ROOTS: root };
  await using service = await startService({
    env,
    dataDir: join(folder, 'data'),
    timeoutMs: 120_000,
  });
  using busy = startBusyLoops();
  busy.starve(service.pid);
  const limit = pLimit(AT_A_TIME);
  const submit = (job: number) => {
    const path = job % 2 === 0 ? `day-${job}` : `day-${job}/*.png`;
    const body = JSON.stringify({ job_type: 'batch_detect', image_paths: [path] });
    const headers = { 'content-type': 'application/json' };
    return call(service.url, '/v1/jobs/submit', { method: 'POST', headers, body });
  };
  const answers = await Promise.all(
    Array.from({ length: JOBS }, (_, job) => limit(() => submit(job))),
  );
  for (const { status, body, headers } of answers) {
    if (status === 202) continue;
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'machine_overloaded' });
    expect(headers.has('retry-after')).toBe(true);
  }
  for (const { body } of answers.filter(({ status }) => status === 202)) {
    await expect
      .poll(async () => (await statusOf(service.url, body.job_id)).status)
      .toBe('completed');
    const counts = await call(service.url, `/v1/jobs/${body.job_id}/counts?by=hour`);
    expect(JSON.parse(counts.text)).toMatchObject({
      total: { images: IMAGES, time_sources: { file: IMAGES } },
    });
  }
});
