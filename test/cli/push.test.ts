/** `lattice job push` of a real service's job into a recorded Label Studio. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { JobImages } from '../../src/client/lattice-client.js';
import { RecordedStudio, STUDIO_KEY } from '../labelling/recorded-studio.js';
import { DEMO, FEW_THREADS, writeEnlarged } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';
import { run, type CliRun } from './run.js';

let folder: string;
let service: ServiceProcess;
let studio: RecordedStudio;
let jobId: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-push-'));
  await sharp({ create: { width: 64, height: 48, channels: 3, background: '#888' } })
    .jpeg()
    .toFile(join(folder, 'grey.jpg'));
  await writeEnlarged(join(folder, 'large.png'), 2);
  service = await startService({
    env: { ...FEW_THREADS, LATTICE_IMAGE_ROOTS: `${DEMO}:${folder}` },
  });
  vi.stubEnv('LATTICE_CORE_API_URL', service.url);
  const paths = ['grey.jpg', 'shapes.png', join(folder, 'large.png'), 'absent.png', 'shapes.png'];
  jobId = (await run('job', 'submit', ...paths, '--wait')).out.trim();
});

beforeEach(async () => {
  vi.stubEnv('LATTICE_CORE_API_URL', service.url);
  vi.stubEnv('LABEL_STUDIO_API_KEY', STUDIO_KEY);
  studio = await RecordedStudio.open();
});

afterEach(async () => {
  await studio[Symbol.asyncDispose]();
  vi.unstubAllEnvs();
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const pushed = (...more: string[]): Promise<CliRun> =>
  run('job', 'push', jobId, '--to', studio.url, '--project', '3', '--rate', '100', ...more);

const pathsThere = () => studio.tasks.map(({ data }) => data.image_path);

test('sends each picture once: by margin, those without a box last', async () => {
  const { out, err, code } = await pushed('--image-root', `${folder}/`);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(
    /^job_\S+: 3 sent, 1 there already, 0 not sent\n\d+ boxes have no label in the project and are left out\.\n$/,
  );
  const answer = await fetch(`${service.url}/v1/jobs/${jobId}/images?sort=margin`);
  const { images } = (await answer.json()) as JobImages;
  const byMargin = [...new Set(images.map((image) => image.image_path))];
  expect(pathsThere()).toEqual([...byMargin, 'grey.jpg']);
  expect(new Set(studio.tasks.map(({ data }) => data.picture))).toEqual(
    new Set(['grey.jpg', 'shapes.png', 'large.png'].map((name) => `/data/local-files/?d=${name}`)),
  );
  expect(studio.tasks.at(-1)!.predictions[0]!.result).toEqual([]);
});

test('neither the same job nor a second run of it is sent again', async () => {
  expect((await pushed('--no-empty')).out).toContain(': 2 sent, 1 there already, 0 not sent\n');
  const again = (await run('job', 'submit', 'grey.jpg', 'shapes.png', '--wait')).out.trim();
  const access = ['--to', studio.url, '--project', '3', '--json'];
  const { out, code } = await run('job', 'push', again, ...access);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({
    job_id: again,
    project: 3,
    ...{ sent: 1, already: 1, not_sent: 0, beyond: 0, doubled: 0, unlabelled: 0 },
  });
  expect(pathsThere()).toHaveLength(3);
});

test('what a Label Studio that fails does not take is counted, and sent by the next run', async () => {
  studio.faults = ['502', '502'];
  const failing = ['--settle', '0', '--tries', '1', '--batch', '2'];
  const { out, err, code } = await pushed(...failing);
  expect(code).toBe(3);
  expect(out).toContain(': 0 sent, 1 there already, 3 not sent\nThe same command sends');
  expect(err).toBe('Label Studio failed 1 times: it answered HTTP 502.\n');
  studio.faults = [];
  expect(await pushed()).toMatchObject({ code: 0, err: '' });
  expect(pathsThere()).toHaveLength(3);
});

test('a limit leaves the rest for the next run', async () => {
  const { out, code } = await pushed('--limit', '1', '--image-url', 'https://images.example/');
  expect(code).toBe(0);
  expect(out).toContain('more come after the limit of 1.\n');
  expect(studio.tasks[0]!.data.picture).toMatch(/^https:\/\/images\.example\//);
});

test('without a key, or with one that is wrong, nothing is sent', async () => {
  vi.stubEnv('LABEL_STUDIO_API_KEY', '');
  expect(await pushed()).toMatchObject({
    code: 2,
    err: expect.stringContaining('LABEL_STUDIO_API_KEY must hold an access token') as string,
  });
  vi.stubEnv('LABEL_STUDIO_API_KEY', 'wrong');
  const { err, code } = await pushed();
  expect(code).toBe(1);
  expect(err).toBe(
    'lattice: Label Studio refuses: it answered HTTP 401: {"detail":"Invalid token."}. LABEL_STUDIO_API_KEY is no valid access token there.\n',
  );
  expect(studio.imports).toEqual([]);
});

test('a wrong address is a wrong command line', async () => {
  const { err, code } = await run('job', 'push', jobId, '--to', 'studio', '--project', '3');
  expect(code).toBe(2);
  expect(err).toContain('The address of Label Studio must have the shape http://HOST:8080.');
});

test('a job that has not ended is not sent', async () => {
  const paths = Array<string>(60).fill('street.jpg');
  const id = (await run('job', 'submit', ...paths)).out.trim();
  const { err, code } = await run('job', 'push', id, '--to', studio.url, '--project', '3');
  await run('job', 'cancel', id);
  expect(code).toBe(1);
  expect(err).toContain(`${id} has not ended`);
});
