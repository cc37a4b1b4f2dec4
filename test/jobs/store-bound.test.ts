/** The bound of the store: under a flood of jobs it holds, and what must stay stays. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NO_LABELS } from '../../src/api/job-labels.js';
import { LatticeError } from '../../src/api/errors.js';
import { Allowances } from '../../src/store/allowances.js';
import type { ImageResult } from '../../src/api/schemas/image.js';
import type { DetectRequest } from '../../src/execution/detector.js';
import { FakeDetector } from '../support/fake-detector.js';
import { ended, imagesNamed, openTestJobs, specOf, TemporaryFolder } from './job-folder.js';
import { silent } from '../support/silent-logger.js';
import { until } from '../support/eventually.js';

const MIB = 1024 * 1024;
const FLOOD = 2_000;
const SUBMITTERS = 16;

/** About 4 KiB per job. */
const metadata = JSON.stringify({ text: 'x'.repeat(3_000) });
/** Submissions that were let in at the same moment, and the results of those that run, are not in the bound. */
const MOST_BEYOND = SUBMITTERS * 8_192;
const flooding = specOf({ metadata });
const kept = specOf({ metadata, labels: { ...NO_LABELS, keep: true } });

function logged() {
  const said: { facts: object; message: string }[] = [];
  const note = (facts: object, message: string) => said.push({ facts, message });
  return { said, logger: { ...silent, warn: note, error: note } };
}

test('under a flood the file stays below the bound; kept and open jobs stay', async () => {
  using folder = new TemporaryFolder();
  const detector = new FakeDetector();
  detector.answer = ({ path }) => (path === 'open.jpg' ? 'hang' : 'ok');
  const { said, logger } = logged();
  const mostBytes = 4 * MIB;
  await using jobs = await openTestJobs(folder, { mostBytes, logger }, detector);
  const { service } = jobs;
  const sizeOf = (suffix: string) => statSync(join(folder.path, `jobs.db${suffix}`)).size;
  let [largest, largestLog] = [0, 0];
  const look = () => {
    largest = Math.max(largest, sizeOf(''));
    largestLog = Math.max(largestLog, sizeOf('-wal'));
  };
  const keptIds = [];
  for (let count = 0; count < 20; count += 1) keptIds.push((await service.submit(kept)).job.jobId);
  const { job: open } = await service.submit(specOf({ imagePaths: ['open.jpg'] }));
  let [accepted, refused] = [0, 0];
  const start = performance.now();
  const submitter = async () => {
    while (accepted < FLOOD) {
      accepted += 1;
      try {
        await service.submit(flooding);
      } catch (error) {
        expect(error).toMatchObject({
          code: 'storage_unavailable',
        } satisfies Partial<LatticeError>);
        accepted -= 1;
        refused += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      look();
    }
  };
  await Promise.all(Array.from({ length: SUBMITTERS }, submitter));
  const seconds = (performance.now() - start) / 1_000;
  const ends = () => jobs.events.filter(({ event }) => event === 'job_completed').length;
  await until(() => ends() === accepted + keptIds.length, 'every accepted job has ended');
  look();
  const { removed, size } = jobs.storeFigures();
  console.log(
    `${accepted} jobs in ${seconds.toFixed(1)} s, ${refused} refused; bound ${mostBytes / MIB} MiB, largest file ` +
      `${(largest / MIB).toFixed(2)} MiB, largest log ${(largestLog / MIB).toFixed(2)} MiB; ${removed.bound} removed`,
  );
  expect(largest).toBeLessThanOrEqual(mostBytes + MOST_BEYOND);
  expect(size.used).toBeLessThanOrEqual(mostBytes);
  expect(removed.bound).toBeGreaterThan(FLOOD / 2);
  for (const jobId of keptIds) {
    expect(await service.get(jobId, null)).toMatchObject({ status: 'completed' });
    expect(await service.images(jobId)).toMatchObject([{ outcome: { status: 'ok' } }]);
  }
  expect(await service.get(open.jobId, null)).toMatchObject({ status: 'running' });
  const warnings = said.filter(({ message }) => message.includes('were removed before their time'));
  expect(warnings[0]).toMatchObject({
    facts: {
      removed: expect.any(Number),
      endedHoursAgo: { oldest: expect.any(Number) },
      storeMaxMb: 4,
    },
    message: expect.stringContaining('raise the bound'),
  });
  // Once per minute, however many batches go.
  expect(warnings.length).toBeLessThanOrEqual(1 + seconds / 60);
});

test('where only kept jobs are left new ones are refused, and it is said; a removal makes room', async () => {
  using folder = new TemporaryFolder();
  const { said, logger } = logged();
  await using jobs = await openTestJobs(folder, { mostBytes: MIB, logger });
  const { service } = jobs;
  const ids: string[] = [];
  const refusal = async () => {
    for (let count = 0; count < 1_000; count += 1) {
      try {
        ids.push((await service.submit(kept)).job.jobId);
      } catch (error) {
        return error;
      }
    }
    return null;
  };
  expect(await refusal()).toMatchObject({
    code: 'storage_unavailable',
    message: expect.stringContaining('LATTICE_STORE_MAX_MB'),
    retryAfterS: 30,
  });
  expect(jobs.storeFigures()).toMatchObject({ isFull: true, removed: { bound: 0 } });
  await until(() => said.some(({ message }) => message.includes('remove kept jobs')), 'it is said');
  expect(await jobs.store.keptJobs()).toBe(ids.length);
  await until(async () => (await service.counts()).queuedImages === 0, 'all have ended');
  // Those that are not kept any more are the first to go.
  await service.relabel(ids[0]!, null, { keep: false });
  for (const jobId of ids.slice(1, 40)) await service.remove(jobId, null);
  await until(() => !jobs.storeFigures().isFull, 'there is room');
  ids.push((await service.submit(kept)).job.jobId);
  expect(jobs.storeFigures().removed.request).toBe(39);
});

test('a file that is larger than a new bound becomes smaller', async () => {
  using folder = new TemporaryFolder();
  const first = await openTestJobs(folder);
  await Promise.all(Array.from({ length: 600 }, () => first.service.submit(flooding)));
  await until(async () => (await first.service.counts()).queuedImages === 0, 'all have ended');
  const size = () => statSync(join(folder.path, 'jobs.db')).size;
  await using jobs = await first.reopen({ mostBytes: MIB });
  expect(size()).toBeGreaterThan(2 * MIB);
  await until(() => jobs.storeFigures().size.file <= MIB, 'the file is smaller');
  await jobs.stop(1_000);
  expect(size()).toBeLessThanOrEqual(MIB);
});

test('of two keys the jobs of the one beyond its share go first, and those of the other stay', async () => {
  using folder = new TemporaryFolder();
  const mostBytes = 2 * MIB;
  const totals = { store: mostBytes, uploads: 0, jobs: 100_000, watches: 200, requests: 0 };
  const keys = new Map([
    ['flooding', {}],
    ['modest', {}],
  ]);
  const allowances = new Allowances(() => keys, totals);
  await using jobs = await openTestJobs(folder, { mostBytes, allowances });
  const { service } = jobs;
  const modest: string[] = [];
  for (let count = 0; count < 40; count += 1) {
    modest.push((await service.submit({ ...flooding, keyId: 'modest' })).job.jobId);
  }
  for (let count = 0; count < 1_500; count += 1) {
    await service.submit({ ...flooding, keyId: 'flooding' }).catch(async (error: unknown) => {
      expect(error).toMatchObject({ code: 'quota_exceeded' } satisfies Partial<LatticeError>);
      await new Promise((resolve) => setTimeout(resolve, 20));
    });
  }
  expect(jobs.storeFigures().removed.bound).toBeGreaterThan(500);
  for (const jobId of modest) {
    expect(await service.get(jobId, 'modest')).toMatchObject({ status: 'completed' });
  }
});

test('what keys have is what their jobs take, through every change of a job and a restart', async () => {
  using folder = new TemporaryFolder();
  const detector = new FakeDetector();
  detector.answer = ({ path }) => (path.startsWith('open') ? 'hang' : 'ok');
  const first = await openTestJobs(folder, {}, detector);
  const { service } = first;
  const of = (keyId: string, imagePaths: string[]) => specOf({ keyId, imagePaths });
  const done = await service.submit(of('a', imagesNamed('done', 3)));
  const cancelled = await service.submit(of('a', imagesNamed('open', 3)));
  await service.submit(of('b', imagesNamed('open', 2)));
  await ended(service, done.job.jobId);
  const [a, b] = await first.store.storeUse();
  expect([a, b]).toMatchObject([
    { owner: 'a', unfinished: 1 },
    { owner: 'b', unfinished: 1 },
  ]);
  expect(b?.staying).toBe(b?.bytes);
  await service.cancel(cancelled.job.jobId, 'a');
  expect((await first.store.storeUse())[0]).toMatchObject({ unfinished: 0, staying: 0 });
  const kept = await service.relabel(done.job.jobId, 'a', { keep: true });
  const withKept = (await first.store.storeUse())[0];
  expect(withKept?.staying).toBeGreaterThan(0);
  expect(withKept?.staying).toBeLessThan(withKept?.bytes ?? 0);
  await using jobs = await first.reopen();
  expect((await jobs.store.storeUse())[0]).toEqual(withKept);
  await jobs.service.remove(kept.jobId, 'a');
  await jobs.service.remove(cancelled.job.jobId, 'a');
  expect((await jobs.store.storeUse())[0]).toMatchObject({ bytes: 0, staying: 0 });
});

class DescribingDetector extends FakeDetector {
  override async detect(request: DetectRequest): Promise<ImageResult> {
    const result = await super.detect(request);
    const isAsked = request.descriptorsAbove !== undefined;
    return { ...result, ...(isAsked && { descriptors: new Uint8Array(64) }) };
  }
}

test('descriptors of boxes count in the bytes of a job', async () => {
  using folder = new TemporaryFolder();
  const detector = new DescribingDetector();
  await using jobs = await openTestJobs(folder, { scoreFloor: 0.05 }, detector);
  for (const [keyId, places] of [
    ['a', true],
    ['b', false],
  ] as const) {
    const { job } = await jobs.service.submit(specOf({ keyId, places }));
    await ended(jobs.service, job.jobId);
  }
  const [a, b] = await jobs.store.storeUse();
  // The settings are shorter by a letter.
  expect(a!.bytes - b!.bytes).toBe(64 - 1);
});
