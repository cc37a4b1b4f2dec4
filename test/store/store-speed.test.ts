/** The cost of a durable submit beside the sync that it needs. Bounds are loose: other work shares the machine. */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/service-store.js';
import { TemporaryFolder, specOf } from '../jobs/job-folder.js';

const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]!;

test('a lone submit costs one sync; 64 submitters share theirs', async () => {
  using folder = new TemporaryFolder();
  const store = await openStore(folder.path);
  let jobs = 0;
  const submit = () =>
    store.submit({
      jobId: `job_${(jobs += 1)}`,
      spec: specOf(),
      submittedAt: Date.now() / 1000,
      idempotency: null,
      admit: true,
    });
  const timed = async (work: () => unknown) => {
    const start = performance.now();
    await work();
    return performance.now() - start;
  };
  const raw = openSync(join(folder.path, 'raw'), 'w');
  const page = Buffer.alloc(4096);
  const syncs: number[] = [];
  const submits: number[] = [];
  for (let round = 0; round < 150; round += 1) {
    syncs.push(
      await timed(() => {
        writeSync(raw, page);
        fdatasyncSync(raw);
      }),
    );
    submits.push(await timed(submit));
  }
  closeSync(raw);

  const before = jobs;
  let commits = 0;
  store.onCommitted(() => (commits += 1));
  const start = performance.now();
  const submitter = async () => {
    while (performance.now() - start < 1500) await submit();
  };
  await Promise.all(Array.from({ length: 64 }, submitter));
  const perSecond = (jobs - before) / ((performance.now() - start) / 1000);
  await store.close();

  const [sync, lone] = [median(syncs), median(submits)];
  console.log(
    `write+fdatasync p50 ${sync.toFixed(2)} ms, submit p50 ${lone.toFixed(2)} ms, ` +
      `64 submitters ${perSecond.toFixed(0)} submits/s, ${((jobs - before) / commits).toFixed(1)} per sync`,
  );
  expect(lone).toBeLessThan(4 * sync + 2);
  expect(jobs - before).toBeGreaterThan(8 * commits);
});
