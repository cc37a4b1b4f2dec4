/** The cost of a page of a list among 100,000 jobs. Bounds are loose: other work shares the machine. */
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import type { JobFilter } from '../../src/api/job-filters.js';
import { JOB_SORTS, type JobSort } from '../../src/api/job-values.js';
import { openStore, type ServiceStore } from '../../src/store/service-store.js';
import { TemporaryFolder, specOf } from '../jobs/job-folder.js';

const JOBS = 100_000;
const PAGE = 101;

/** A store of jobs that have ended, each with boxes of two classes; one in a thousand is of the north gate. */
async function filledStore(folder: TemporaryFolder): Promise<ServiceStore> {
  const first = await openStore(folder.path);
  const metadata = JSON.stringify({ camera: 'x'.repeat(200) });
  const spec = specOf({ metadata, keyId: 'k' });
  await first.submit({ jobId: 'job_0', submittedAt: 1, idempotency: null, admit: true, spec });
  await first.cancel('job_0', null, 2);
  await first.close();
  const database = new DatabaseSync(join(folder.path, 'jobs.db'));
  database.exec(`
    BEGIN;
    WITH RECURSIVE n (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n < ${JOBS})
    INSERT INTO jobs (number, job_id, key_id, job_type, status, priority, settings, metadata, image_count, finished,
      succeeded, submitted_at, started_at, completed_at, tags, typed_paths)
    SELECT n, 'job_' || n, key_id, job_type, 'completed', 0, settings, metadata, 1, 1, 1, n, n, n + (n * 7919) % 5000,
      iif(n % 1000 = 0, '["Night"]', '[]'), json_array('2026/11/' || n || '/')
    FROM n, jobs WHERE number = 1;
    INSERT INTO job_listings (job, title, model, marked_tags, text, ended)
    SELECT number, iif(number % 1000 = 0, 'north gate ', 'folder ') || (number * 7919) % ${JOBS},
      iif(number % 2, 'yolov8n.pt', 'yolov8s.pt'), iif(number % 1000 = 0, char(10) || 'night' || char(10), ''),
      'folder 2026/11/' || number || '/ ' || iif(number % 1000 = 0, 'north gate', 'south gate') || printf('%.100c', 'x'), completed_at
    FROM jobs WHERE number > 1;
    INSERT INTO job_boxes SELECT number, 'car', 18, 5 FROM jobs;
    INSERT INTO job_boxes SELECT number, 'bus', 12, 2 FROM jobs;
    COMMIT`);
  database.close();
  return openStore(folder.path);
}

const QUERIES: Record<string, { filter: JobFilter; sort?: JobSort; found?: number }> = {
  'no filter': { filter: {} },
  'a word of one job in a thousand': { filter: { words: ['NORTH'] } },
  'a word of every job': { filter: { words: ['gate'] } },
  'a word of no job': { filter: { words: ['harbour'] }, found: 0 },
  'two words, by title': { filter: { words: ['gate', 'north'] }, sort: 'name' },
  'a word of every job, by end': { filter: { words: ['gate'] }, sort: 'ended' },
  'a tag': { filter: { tag: 'NIGHT' } },
  'a model': { filter: { modelName: 'yolov8s.pt' } },
  'a model that no job has': { filter: { modelName: 'other.pt' }, found: 0 },
  ...Object.fromEntries(JOB_SORTS.map((sort) => [`by ${sort}`, { filter: {}, sort }])),
};

test('a page of 100 among 100,000 jobs', async () => {
  using folder = new TemporaryFolder();
  const store = await filledStore(folder);
  const timed = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
    const times: number[] = [];
    /** CPU time of this process, which waits for the store: other work on the machine does not count. */
    const cpuMs = () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    };
    let last: T;
    for (let round = 0; round < 7; round += 1) {
      const start = cpuMs();
      last = await work();
      times.push(cpuMs() - start);
    }
    return [last!, times.sort((a, b) => a - b)[3]!];
  };
  const lines: string[] = [];
  for (const [name, { filter, sort, found }] of Object.entries(QUERIES)) {
    const [page, ms] = await timed(() => store.list({ ...filter, keyId: 'k' }, PAGE, null, sort));
    expect(page, name).toHaveLength(
      found ??
        Math.min(
          PAGE,
          filter.tag || filter.words?.includes('NORTH') || filter.words?.includes('north')
            ? 100
            : PAGE,
        ),
    );
    // The pages behind cost no more than the first.
    const [, behind] = await timed(() =>
      store.list({ ...filter, keyId: 'k' }, PAGE, page[50]?.position ?? null, sort),
    );
    lines.push(`${name}: ${ms.toFixed(1)} ms, a later page ${behind.toFixed(1)} ms`);
    expect(ms, name).toBeLessThan(400);
    expect(behind, name).toBeLessThan(400);
  }
  const ids = (await store.list({}, 100)).map(({ job }) => job.jobId);
  const [counts, countsMs] = await timed(() => store.classCounts(ids));
  expect(counts).toEqual(ids.map(() => ({ car: 5, bus: 2 })));
  const [states, statesMs] = await timed(() => store.countByStatus({ words: ['gate'] }));
  expect(states.completed).toBe(JOBS - 1);
  lines.push(`boxes by class of a page: ${countsMs.toFixed(1)} ms`);
  lines.push(`numbers of the states, a word of every job: ${statesMs.toFixed(1)} ms`);
  console.log(lines.join('\n'));
  await store.close();
});
