/** Stores that were backed up and restored: what is in them, and what is refused. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { FakeDetector } from '../support/fake-detector.js';
import { backUp, type BackupOptions } from '../../src/backup/back-up.js';
import { checkBackup, restore } from '../../src/backup/restore.js';
import { openStore } from '../../src/store/service-store.js';
import { SCHEMA_VERSION } from '../../src/store/schema.js';
import { BACK_TO_SCHEMA_7 } from '../store/earlier-tables.js';
import { ended, imagesNamed, openTestJobs, specOf, TemporaryFolder } from '../jobs/job-folder.js';
import { until } from '../support/eventually.js';

/** A folder to hold a data folder, backups, and the data folder of the restore. */
class Place implements Disposable {
  readonly root = new TemporaryFolder();
  readonly data = { path: join(this.root.path, 'data') };
  readonly restored = { path: join(this.root.path, 'restored') };
  readonly file = join(this.root.path, 'jobs.tar');

  backUp(changes: Partial<BackupOptions> = {}) {
    const { file, data } = this;
    const standardOutput = () => Promise.reject(new Error('Nothing is printed.'));
    const options = { dataDir: data.path, file, pictures: true, replace: false, standardOutput };
    return backUp({ ...options, ...changes });
  }

  restore(moveAside = false) {
    const { file, restored } = this;
    return restore({ dataDir: restored.path, file, moveAside });
  }

  async withJobs(): Promise<string> {
    const jobs = await openTestJobs(this.data);
    const { job } = await jobs.service.submit(specOf({ imagePaths: imagesNamed('p', 3) }));
    await ended(jobs.service, job.jobId);
    await jobs.stop(0);
    return job.jobId;
  }

  change(statements: string, folder = this.data): void {
    const database = new DatabaseSync(join(folder.path, 'jobs.db'));
    database.exec(statements);
    database.close();
  }

  [Symbol.dispose](): void {
    this.root[Symbol.dispose]();
  }
}

test('a restored store has every job as it was; what ran goes on, and pending webhooks are due', async () => {
  using place = new Place();
  const detector = new FakeDetector();
  const jobs = await openTestJobs(place.data, {}, detector);
  const callbackUrl = 'http://example.test/hook';
  const { job: done } = await jobs.service.submit(
    specOf({ imagePaths: imagesNamed('done', 3), callbackUrl }),
  );
  await ended(jobs.service, done.jobId);
  const result = await jobs.service.images(done.jobId);
  detector.delayMs = 600_000;
  const { job: running } = await jobs.service.submit(specOf({ imagePaths: imagesNamed('r', 5) }));
  await until(
    async () => (await jobs.service.get(running.jobId, null)).status === 'running',
    'running',
  );
  const backup = await place.backUp();
  expect(backup).toMatchObject({ jobs: 2, unfinished_jobs: 1, pending_webhooks: 1, pictures: 0 });
  expect(backup.schema).toBe(SCHEMA_VERSION);
  expect(readdirSync(place.root.path).sort()).toEqual(['data', 'jobs.tar']);
  expect((statSync(place.file).mode & 0o777).toString(8)).toBe('600');
  await jobs.service.submit(specOf());
  await jobs.stop(0);

  expect(await checkBackup(place.file)).toMatchObject({ about: { jobs: 2 }, pictures: 0 });
  expect(await place.restore()).toMatchObject({ about: { jobs: 2 }, pictures: 0, aside: null });
  const again = await openTestJobs(place.restored);
  expect(await again.service.get(done.jobId, null)).toEqual(await jobsOf(place.data, done.jobId));
  expect(await again.service.images(done.jobId)).toEqual(result);
  expect(await ended(again.service, running.jobId)).toMatchObject({ status: 'completed' });
  const due = await again.store.webhooks.due(Date.now() / 1000 + 60, {
    limit: 9,
    perHost: 9,
    without: [],
  });
  expect(due.map(({ jobId, url }) => [jobId, url])).toEqual([[done.jobId, callbackUrl]]);
  await again.stop(0);
});

async function jobsOf(folder: { path: string }, jobId: string) {
  const jobs = await openTestJobs(folder);
  const job = await jobs.service.get(jobId, null);
  await jobs.stop(0);
  return job;
}

test('a client that has seen events of the lost store is told of the gap, and misses none of the new ones', async () => {
  using place = new Place();
  await place.withJobs();
  await place.backUp();
  const lost = await openTestJobs(place.data);
  for (let count = 0; count < 20; count += 1) await lost.service.submit(specOf());
  const seen = lost.service.lastSeq();
  await lost.stop(0);
  await place.restore();
  const jobs = await openTestJobs(place.restored);
  expect(jobs.service.lastSeq()).toBeGreaterThan(seen);
  expect(await jobs.service.eventsAfter(seen, 10)).toEqual({ events: [], gap: true });
  const { job } = await jobs.service.submit(specOf());
  await ended(jobs.service, job.jobId);
  const { events, gap } = await jobs.service.eventsAfter(seen, 10);
  expect(gap).toBe(true);
  expect(events.map(({ event, jobId }) => [event, jobId])).toEqual([
    ['job_submitted', job.jobId],
    ['job_started', job.jobId],
    ['job_completed', job.jobId],
  ]);
  expect(events[0]!.seq).toBe((await jobs.service.eventsAfter(0, 10)).events.at(-1)!.seq - 2);
  await jobs.stop(0);
});

test('a store that was restored twice still numbers its events', async () => {
  using place = new Place();
  await (await openStore(place.data.path)).close();
  await place.backUp();
  await place.restore();
  const first = await openStore(place.restored.path);
  expect(first.lastSeq).toBe(2 ** 40);
  await first.close();
  await place.backUp({ dataDir: place.restored.path, replace: true });
  await place.restore(true);
  const second = await openStore(place.restored.path);
  expect(second.lastSeq).toBe(2 ** 41);
  await second.close();
});

test('drawn pictures and sent photos come back with their times, unless they were left out', async () => {
  using place = new Place();
  await place.withJobs();
  const names = ['annotated/a.jpg', 'annotated/key/b.jpg', 'uploads/2026/night shift.jpg'];
  for (const name of [...names, 'annotated/half.jpg.part', 'engines/model.engine']) {
    const path = join(place.data.path, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, `picture ${name}`);
    utimesSync(path, 1_700_000_000, 1_700_000_000);
  }
  expect(await place.backUp()).toMatchObject({ pictures: 3 });
  await place.restore();
  for (const name of names) {
    expect(readFileSync(join(place.restored.path, name), 'utf8')).toBe(`picture ${name}`);
    expect(statSync(join(place.restored.path, name)).mtimeMs).toBe(1_700_000_000_000);
  }
  const all = readdirSync(place.restored.path).sort();
  expect(all).toEqual(['annotated', 'jobs.db', 'lock.db', 'owner.pid', 'uploads']);
  expect(readdirSync(join(place.restored.path, 'annotated'))).not.toContain('half.jpg.part');
  expect(await place.backUp({ pictures: false, replace: true })).toMatchObject({ pictures: 0 });
  expect(await checkBackup(place.file)).toMatchObject({ pictures: 0 });
});

test('a backup of an older schema opens in this release', async () => {
  using place = new Place();
  const jobId = await place.withJobs();
  place.change(BACK_TO_SCHEMA_7);
  expect(await place.backUp()).toMatchObject({ schema: 7, jobs: 1 });
  await place.restore();
  const jobs = await openTestJobs(place.restored);
  expect(await jobs.service.get(jobId, null)).toMatchObject({ status: 'completed' });
  expect(await jobs.service.images(jobId)).toHaveLength(3);
  await jobs.stop(0);
});

test('a backup of a later release is refused, and the store that it was of names the way back', async () => {
  using place = new Place();
  await place.withJobs();
  place.change('PRAGMA user_version = 99');
  // Copied all the same: the operator may need it.
  expect(await place.backUp()).toMatchObject({ schema: 99 });
  const refused = 'is of a later release (';
  await expect(place.restore()).rejects.toThrow(refused);
  await expect(checkBackup(place.file)).rejects.toThrow(refused);
  expect(existsSync(place.restored.path)).toBe(false);
  await expect(openStore(place.data.path)).rejects.toThrow(
    /written by a later release .* restore a backup that was made before the upgrade \(`lattice restore --force`\)/,
  );
});

test('a folder in use, or with jobs, is left alone; --force moves the jobs aside', async () => {
  using place = new Place();
  const kept = await place.withJobs();
  await place.backUp();
  const jobs = await openTestJobs(place.restored);
  const { job: old } = await jobs.service.submit(specOf());
  await ended(jobs.service, old.jobId);
  await expect(place.restore(true)).rejects.toThrow(
    `The data folder ${place.restored.path} is in use by process ${process.pid}.`,
  );
  await jobs.stop(0);
  await expect(place.restore()).rejects.toThrow(/has jobs already \(jobs\.db\).*--force moves/);
  const { aside } = await place.restore(true);
  const restored = await openTestJobs(place.restored);
  await restored.service.get(kept, null);
  await expect(restored.service.get(old.jobId, null)).rejects.toMatchObject({
    code: 'job_not_found',
  });
  await restored.stop(0);
  const moved = await openTestJobs({ path: aside! });
  expect(await moved.service.get(old.jobId, null)).toMatchObject({ status: 'completed' });
  await moved.stop(0);
});

test('no service starts on a folder while a restore is under way, or where one was broken off', async () => {
  using place = new Place();
  mkdirSync(join(place.restored.path, 'restore.part'), { recursive: true });
  await expect(openStore(place.restored.path)).rejects.toThrow(
    /A restore into the data folder .* was broken off\. Run `lattice restore` again/,
  );
  await place.withJobs();
  await place.backUp();
  await place.restore();
  await (await openStore(place.restored.path)).close();
});

test('a damaged store gives no backup, and a folder without one neither', async () => {
  using place = new Place();
  await expect(place.backUp()).rejects.toThrow(/There are no jobs in .*LATTICE_DATA_DIR/);
  await place.withJobs();
  const file = join(place.data.path, 'jobs.db');
  const bytes = readFileSync(file);
  writeFileSync(file, Buffer.from(bytes).fill(0xa5, 4096 * 6, 4096 * 8));
  await expect(place.backUp()).rejects.toThrow(`The job store ${file} is damaged`);
  writeFileSync(file, 'x'.repeat(8192));
  await expect(place.backUp()).rejects.toThrow(`The job store ${file} is damaged`);
  const other = new DatabaseSync(join(place.root.path, 'other.db'));
  other.exec('CREATE TABLE t (a)');
  other.close();
  writeFileSync(file, readFileSync(join(place.root.path, 'other.db')));
  await expect(place.backUp()).rejects.toThrow('is the database of another program');
  expect(existsSync(place.file)).toBe(false);
  expect(readdirSync(place.root.path).filter((name) => name.includes('part'))).toEqual([]);
});

test('a name that cannot be written is refused before anything is read', async () => {
  using place = new Place();
  await place.withJobs();
  writeFileSync(place.file, 'mine');
  await expect(place.backUp()).rejects.toThrow(
    `${place.file} is already there. --force replaces it.`,
  );
  expect(readFileSync(place.file, 'utf8')).toBe('mine');
  await expect(place.backUp({ file: place.root.path })).rejects.toThrow('is a folder');
  await expect(place.backUp({ file: join(place.root.path, 'no/f') })).rejects.toThrow(
    'There is no',
  );
  const inside = join(place.data.path, 'uploads/f.tar');
  await expect(place.backUp({ file: inside })).rejects.toThrow('goes into the backup');
});

test('a copy that is stopped leaves nothing, and one whose process is gone is cleared by the next', async () => {
  using place = new Place();
  await place.withJobs();
  const stop = new AbortController();
  const onProgress = () => {
    stop.abort();
  };
  await expect(place.backUp({ signal: stop.signal, onProgress })).rejects.toThrow('aborted');
  expect(readdirSync(place.root.path)).toEqual(['data']);
  // Larger than any id of a process.
  writeFileSync(`${place.file}.part-99999999`, 'half');
  writeFileSync(`${place.file}.part-99999999.db-journal`, 'half');
  // An earlier process had the id of this one, as in a container that was started again.
  writeFileSync(`${place.file}.part-${process.pid}`, 'half');
  writeFileSync(`${place.file}.part-1`, 'of one that runs');
  await place.backUp();
  expect(readdirSync(place.root.path).sort()).toEqual(['data', 'jobs.tar', 'jobs.tar.part-1']);
});
