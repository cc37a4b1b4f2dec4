import { expect, test } from 'vitest';
import { SubmittedFiles } from '../../../src/cli/run/submitted-files.js';
import type { RunJob } from '../../../src/cli/run/run-service.js';

const PER_JOB = 1_000;

/** Paths of jobs that were submitted now. */
function jobsOf(count: number) {
  const now = Date.now() / 1_000;
  const jobs = Array.from(
    { length: count },
    (_, at) => ({ jobId: String(at), submittedAt: now, imageCount: PER_JOB }) as RunJob,
  );
  const paths = async function* (jobId: string) {
    const from = Number(jobId) * PER_JOB;
    yield await Promise.resolve(Array.from({ length: PER_JOB }, (_, at) => pathOf(from + at)));
  };
  return { jobs, service: { paths } };
}

const pathOf = (index: number) => `/nowhere/${index}.jpg`;

async function* filesOf(count: number, skipped = -1) {
  for (let at = 0; at < count; at += 1) if (at !== skipped) yield await Promise.resolve(pathOf(at));
}

async function newOnes(files: SubmittedFiles, listed: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const file of files.without(listed)) found.push(file);
  return found;
}

test('only files of no job are given, and all of them', async () => {
  const { jobs, service } = jobsOf(5);
  const files = await SubmittedFiles.of(service, jobs);
  expect(await newOnes(files, filesOf(5_003))).toEqual([5_000, 5_001, 5_002].map(pathOf));
  expect(files.isStale).toBe(false);
});

test('a file that is not named any more makes the jobs stale', async () => {
  const { jobs, service } = jobsOf(2);
  const files = await SubmittedFiles.of(service, jobs);
  expect(await newOnes(files, filesOf(2_000, 7))).toEqual([]);
  expect(files.isStale).toBe(true);
});

test('without jobs all files are new', async () => {
  const files = await SubmittedFiles.of(jobsOf(0).service, []);
  expect(await newOnes(files, filesOf(3))).toHaveLength(3);
});
