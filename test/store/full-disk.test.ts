/** A start on a disk that is full already: all stored records can be read, and work continues once space is free. */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { MAX_IMAGES, type StoredJob } from '../../src/store/job-records.js';
import { TemporaryFolder, ended, openTestJobs, specOf } from '../jobs/job-folder.js';
import { until } from '../support/eventually.js';

const CHILD = fileURLToPath(new URL('../jobs/crash-child.mjs', import.meta.url));

/** A disk of its own; null, with the reason printed, where it cannot be mounted. */
function mountSmallDisk(): (TemporaryFolder & Disposable) | null {
  const folder = new TemporaryFolder();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder.path], {
    encoding: 'utf8',
  });
  if (mounted.status === 0) {
    const remove = folder[Symbol.dispose].bind(folder);
    folder[Symbol.dispose] = () => {
      spawnSync('umount', ['-l', folder.path]);
      remove();
    };
    return folder;
  }
  folder[Symbol.dispose]();
  console.warn(
    `Left out: a start on a full disk: no disk can be mounted (${mounted.stderr.trim()}).`,
  );
  return null;
}

/** Fills the disk; returns the file to remove. */
function fill(folder: TemporaryFolder): string {
  const file = join(folder.path, 'filler');
  const handle = openSync(file, 'w');
  try {
    for (;;) writeSync(handle, Buffer.alloc(4_096, 1));
  } catch {
    return file;
  } finally {
    closeSync(handle);
  }
}

/** Jobs of a process that was killed at work. */
async function jobsOfKilled(folder: TemporaryFolder): Promise<string[]> {
  const child = spawn(process.execPath, [CHILD, folder.path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('close', resolve));
  let output = '';
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  await until(() => output.split('\n').length > 30, 'jobs');
  child.kill('SIGKILL');
  await exited;
  return output.split('\n').slice(1, -1);
}

test('a start on a full disk reads, refuses submits, and works again once space is free', async ({
  skip,
}) => {
  using folder = mountSmallDisk();
  if (folder === null) {
    skip();
    return;
  }
  const acknowledged = await jobsOfKilled(folder);
  const filler = fill(folder);
  await using jobs = await openTestJobs(folder, { reserveBytes: 0 });
  for (const jobId of acknowledged) {
    expect(await jobs.service.get(jobId, null)).toMatchObject({ jobId });
  }
  expect((await jobs.service.eventsAfter(0, 10)).events).toHaveLength(10);
  expect(await jobs.health()).toMatchObject({ code: 'storage_unavailable' });
  const refused = jobs.service.submit(specOf());
  await expect(refused).rejects.toMatchObject({ code: 'storage_unavailable', status: 503 });
  // The log of the killed process may have space for a start: without one on disk no image runs.
  const ran = new Set(jobs.detector.requests.map(({ id = 0 }) => Math.floor(id / MAX_IMAGES)));
  const begun = await Promise.all(
    acknowledged.map(async (jobId) => (await jobs.service.get(jobId, null)) as StoredJob),
  );
  const started = begun.filter(({ startedAt }) => startedAt !== null).map(({ number }) => number);
  expect(started).toEqual(expect.arrayContaining([...ran]));

  rmSync(filler);
  await until(async () => {
    const submitted = await jobs.service.submit(specOf()).catch(() => null);
    return submitted !== null;
  }, 'a submit is taken');
  for (const jobId of acknowledged) {
    expect((await ended(jobs.service, jobId)).completedAt).not.toBeNull();
  }
  await until(async () => {
    const { pending, running, queuedImages } = await jobs.service.counts();
    return pending + running + queuedImages === 0;
  }, 'nothing is left');
  expect(await jobs.health()).toBeNull();
});
