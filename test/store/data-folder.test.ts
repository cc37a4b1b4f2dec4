/** Data folders that cannot be used are refused with a sentence that says what to do. */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { BACK_TO_SCHEMA_7 } from './earlier-tables.js';
import { FakeDetector } from '../support/fake-detector.js';
import { openStore } from '../../src/store/service-store.js';
import { TemporaryFolder, ended, imagesNamed, openTestJobs, specOf } from '../jobs/job-folder.js';
import { silent } from '../support/silent-logger.js';
import { until } from '../support/eventually.js';

const CHILD = fileURLToPath(new URL('../jobs/crash-child.mjs', import.meta.url));
const open = (folder: TemporaryFolder) => openStore(folder.path);

async function filled(folder: TemporaryFolder): Promise<string> {
  const jobs = await openTestJobs(folder);
  for (let job = 0; job < 50; job += 1) {
    await jobs.service.submit(specOf({ imagePaths: imagesNamed('p', 50) }));
  }
  await until(async () => (await jobs.service.counts()).queuedImages === 0, 'drained');
  await jobs.stop(1000);
  return join(folder.path, 'jobs.db');
}

test('a second process is refused with the first one’s id, until that one is killed', async () => {
  using folder = new TemporaryFolder();
  const child = spawn(process.execPath, [CHILD, folder.path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('close', resolve));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.stdout.resume();
  await expect(open(folder)).rejects.toThrow(
    new RegExp(`in use by process ${String(child.pid)}\\..*LATTICE_DATA_DIR`),
  );
  child.kill('SIGKILL');
  await exited;
  await (await open(folder)).close();
});

test('one process cannot open a folder twice either', async () => {
  using folder = new TemporaryFolder();
  const store = await open(folder);
  await expect(open(folder)).rejects.toThrow(`in use by process ${process.pid}`);
  await store.close();
  await (await open(folder)).close();
});

test('a disk without space for the tables is named', async () => {
  using folder = new TemporaryFolder();
  await expect(openStore(folder.path, { maxPages: 2 })).rejects.toThrow(
    new RegExp(`The disk of the data folder ${folder.path} is full\\..*LATTICE_DATA_DIR`),
  );
  await (await open(folder)).close();
});

test('tables of an earlier release are brought up to date, with their pending webhooks', async () => {
  using folder = new TemporaryFolder();
  const detector = new FakeDetector();
  detector.answer = ({ path }) => (path === 'p1.jpg' ? 'ok' : 'invalid_image');
  const jobs = await openTestJobs(folder, {}, detector);
  const { imagePaths, options, labels, typed, ...settings } = specOf({
    imagePaths: imagesNamed('p', 3),
    callbackUrl: 'http://Example.test:81/x',
  });
  const { job } = await jobs.service.submit({ imagePaths, options, labels, typed, ...settings });
  await ended(jobs.service, job.jobId);
  await jobs.stop(1000);
  const database = new DatabaseSync(join(folder.path, 'jobs.db'));
  database.exec(`${BACK_TO_SCHEMA_7}
    DROP INDEX webhooks_by_host; ALTER TABLE webhook_deliveries DROP COLUMN host;
    DROP TABLE webhook_attempts; DROP TABLE image_facts; DROP TABLE job_boxes;
    ALTER TABLE webhook_deliveries DROP COLUMN attempts_before;
    ALTER TABLE jobs DROP COLUMN retry_of; ALTER TABLE outbox DROP COLUMN failed;
    PRAGMA application_id = 0; PRAGMA user_version = 1`);
  const { modelName, confidence, iou, maxDetections, classes } = options;
  const asThen = JSON.stringify({
    ...{ modelName, confidence, iou, maxDetections, classes },
    ...settings,
  });
  database.prepare('UPDATE jobs SET settings = ?').run(asThen);
  database.close();
  const store = await open(folder);
  const dueAt = await store.webhooks.nextDueAt();
  const soon = Date.now() / 1000 + 60;
  const [delivery] = await store.webhooks.due(soon, { limit: 1, perHost: 1, without: [] });
  expect(delivery).toMatchObject({ jobId: job.jobId, host: 'example.test:81' });
  expect(dueAt).toBeCloseTo(Date.now() / 1000, -1);
  expect(await store.find(job.jobId, null)).toMatchObject({ failedImages: 2, retryOf: null });
  // Its typed paths were not stored then.
  const typedAs = { paths: ['p0.jpg'], count: 1 };
  expect((await store.find(job.jobId, null)).spec).toEqual({
    ...settings,
    options,
    labels,
    typed: typedAs,
  });
  const [listed] = await store.list({ words: ['P0'], modelName: options.modelName }, 9);
  expect(listed?.job).toMatchObject({ jobId: job.jobId });
  const { number } = await store.find(job.jobId, null);
  expect(await store.tally(number)).toEqual({
    found: 1,
    empty: 0,
    failed: 2,
    boxes: [{ class: 'car', step: 18, boxes: 1 }],
    regions: [],
  });
  expect(await store.views()).toEqual([]);
  const [use, ...others] = await store.storeUse();
  expect(others).toEqual([]);
  expect(use?.bytes).toBeGreaterThan(1_000);
  // Its webhook is still to be sent.
  expect(use).toMatchObject({ owner: '', staying: use?.bytes, unfinished: 0 });
  const counts = await store.imageCounts(number, 0, 10);
  const unread = { regionCounts: null, taken: null, takenFrom: null };
  expect(counts).toEqual([
    { index: 0, path: 'p0.jpg', failed: 1, classCounts: '{}', ...unread },
    { index: 1, path: 'p1.jpg', failed: 0, classCounts: '{"car":1}', ...unread },
    { index: 2, path: 'p2.jpg', failed: 1, classCounts: '{}', ...unread },
  ]);
  const images = { number, imageCount: 3, without: 'not_run' as const };
  const unsure = { classes: ['car'], confidenceBelow: 0.95 };
  expect((await store.filteredImages(images, unsure, 0, 9)).matching).toBe(1);
  const sure = { classes: ['car'], confidenceBelow: 0.5 };
  expect((await store.filteredImages(images, sure, 0, 9)).matching).toBe(0);
  const { events } = await store.events(0, 10);
  expect(events.map(({ event, failedImages }) => [event, failedImages])).toEqual([
    ['job_submitted', 0],
    ['job_started', 0],
    ['job_completed', 2],
  ]);
  await store.close();
});

test('a parameter that is newer than a job has its default in it', async () => {
  using folder = new TemporaryFolder();
  const jobs = await openTestJobs(folder);
  const { job } = await jobs.service.submit(specOf());
  await jobs.stop(0);
  const database = new DatabaseSync(join(folder.path, 'jobs.db'));
  database.exec("UPDATE jobs SET settings = json_remove(settings, '$.options.iou')");
  database.close();
  const store = await open(folder);
  expect((await store.find(job.jobId, null)).spec.options).toEqual(specOf().options);
  await store.close();
});

test('tables of a later release are left alone', async () => {
  using folder = new TemporaryFolder();
  await (await open(folder)).close();
  const database = new DatabaseSync(join(folder.path, 'jobs.db'));
  database.exec('PRAGMA user_version = 99');
  database.close();
  await expect(open(folder)).rejects.toThrow('written by a later release (schema 99');
});

test.each([
  ['without an id', 'CREATE TABLE jobs (id INTEGER)'],
  ['with an id of its own', 'PRAGMA application_id = 7; CREATE TABLE jobs (id INTEGER)'],
  ['without tables', 'PRAGMA user_version = 3'],
])('the database of another program is left alone: %s', async (_name, statements) => {
  using folder = new TemporaryFolder();
  const file = join(folder.path, 'jobs.db');
  const other = new DatabaseSync(file);
  other.exec(statements);
  other.close();
  const before = readFileSync(file);
  const mode = modeOf(file);
  await expect(open(folder)).rejects.toThrow(
    `${file} is the database of another program. Nothing was changed.`,
  );
  expect(readFileSync(file).equals(before)).toBe(true);
  expect(modeOf(file)).toBe(mode);
});

test('a damaged lock.db is named, with what to do', async () => {
  using folder = new TemporaryFolder();
  const file = join(folder.path, 'lock.db');
  writeFileSync(file, 'x'.repeat(8192));
  await expect(open(folder)).rejects.toThrow(
    new RegExp(`${file} is damaged .*It holds no data: remove it\\.`),
  );
});

const DAMAGES: [string, (file: string) => void][] = [
  [
    'garbage instead of a database',
    (file) => {
      writeFileSync(file, 'x'.repeat(8192));
    },
  ],
  [
    'a page overwritten',
    (file) => {
      const handle = openSync(file, 'r+');
      writeSync(handle, Buffer.alloc(8192, 0xa5), 0, 8192, 4096 * 6);
      closeSync(handle);
    },
  ],
  [
    'the end cut off',
    (file) => {
      truncateSync(file, Math.floor(statSync(file).size / 8192) * 4096);
    },
  ],
];

test('an empty jobs.db is refused like a damaged one, not made anew', async () => {
  using folder = new TemporaryFolder();
  const file = await filled(folder);
  truncateSync(file, 0);
  await expect(open(folder)).rejects.toThrow(
    new RegExp(`The job store ${file} is damaged \\(it has 0 bytes\\).*Restore a backup`),
  );
  expect(statSync(file).size).toBe(0);
});

test('a jobs.db that is missing beside its write-ahead log is not made anew', async () => {
  using folder = new TemporaryFolder();
  writeFileSync(join(folder.path, 'jobs.db-wal'), 'frames');
  await expect(open(folder)).rejects.toThrow('it is missing beside its -wal file');
});

test('a start that broke off before the tables were made does not keep the next from starting', async () => {
  using folder = new TemporaryFolder();
  writeFileSync(join(folder.path, 'jobs.db.new'), 'half a file');
  await (await open(folder)).close();
  expect(existsSync(join(folder.path, 'jobs.db.new'))).toBe(false);
});

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test('the store is its owner’s alone, also where an earlier start left it to others', async () => {
  using folder = new TemporaryFolder();
  const dataDir = join(folder.path, 'data');
  const file = join(dataDir, 'jobs.db');
  const files = [file, `${file}-wal`, `${file}-shm`];
  const first = await openStore(dataDir);
  expect(modeOf(dataDir)).toBe('700');
  expect(files.map(modeOf)).toEqual(['600', '600', '600']);
  await first.close();
  chmodSync(file, 0o644);
  const second = await openStore(dataDir);
  await second.counts();
  expect(files.map(modeOf)).toEqual(['600', '600', '600']);
  await second.close();
});

test('a data folder that others can enter is named in the log', async () => {
  using folder = new TemporaryFolder();
  chmodSync(folder.path, 0o755);
  const warnings: string[] = [];
  const logger = { ...silent, warn: (_: object, message: string) => warnings.push(message) };
  await (await openTestJobs(folder, { logger })).stop(0);
  expect(warnings).toEqual([expect.stringContaining('other users can enter the data folder')]);
});

test.each(DAMAGES)('damage is named and nothing is changed: %s', async (_name, damage) => {
  using folder = new TemporaryFolder();
  const file = await filled(folder);
  damage(file);
  const before = readFileSync(file);
  await expect(open(folder)).rejects.toThrow(
    new RegExp(`The job store ${file} is damaged .* Restore a backup`),
  );
  expect(readFileSync(file).equals(before)).toBe(true);
});

test('a full disk refuses writes with a typed error; reads work, and so do writes once space is free', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder, { maxPages: 120, resultTtlHours: 24 });
  const { job: kept } = await jobs.service.submit(specOf());
  await ended(jobs.service, kept.jobId);
  expect(await jobs.health()).toBeNull();
  const huge = specOf({ imagePaths: imagesNamed('x'.repeat(400), 2000) });
  await expect(jobs.service.submit(huge)).rejects.toMatchObject({ code: 'storage_unavailable' });
  expect(await jobs.health()).toMatchObject({ code: 'storage_unavailable' });
  // A large one does not take its small neighbours with it.
  const mixed = await Promise.allSettled([
    jobs.service.submit(specOf()),
    jobs.service.submit(huge),
    jobs.service.submit(specOf()),
  ]);
  expect(mixed.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);

  const accepted: string[] = [];
  jobs.detector.delayMs = 20;
  let refused = 0;
  for (let round = 0; round < 400 && refused === 0; round += 1) {
    const spec = specOf({ imagePaths: imagesNamed('y'.repeat(200), 10) });
    await jobs.service.submit(spec).then(
      ({ job }) => accepted.push(job.jobId),
      (error: unknown) => {
        expect(error).toMatchObject({ code: 'storage_unavailable' });
        refused += 1;
      },
    );
  }
  expect(refused).toBe(1);
  expect(await jobs.service.get(kept.jobId, null)).toMatchObject({ status: 'completed' });
  expect(await jobs.service.images(kept.jobId)).toHaveLength(1);

  const next = await jobs.reopen({ maxPages: null });
  for (const jobId of accepted) {
    expect(await ended(next.service, jobId)).toMatchObject({ status: 'completed' });
  }
  expect(await next.health()).toBeNull();
  await next.stop(0);
});
