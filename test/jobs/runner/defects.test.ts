/** A defect of the program in a store call: its job fails, the others and the process go on. */
import { expect, test } from 'vitest';
import { LatticeError } from '../../../src/api/errors.js';
import { createJobs, type JobsOptions } from '../../../src/jobs/jobs.js';
import { openStore, type ServiceStore } from '../../../src/store/service-store.js';
import { FakeDetector } from '../../support/fake-detector.js';
import { ended, openParts, specOf, TemporaryFolder } from '../job-folder.js';
import { silent } from '../../support/silent-logger.js';
import { until } from '../../support/eventually.js';

type Replace = (store: ServiceStore) => Partial<ServiceStore>;
const defect = () =>
  Promise.reject(
    new LatticeError('internal_error', 'An internal error occurred.', { cause: 'at row' }),
  );

test.each<[string, Replace]>([
  [
    'record',
    ({ record }) => ({ record: (job, ...rest) => (job === 1 ? defect() : record(job, ...rest)) }),
  ],
  [
    'start',
    ({ start }) => ({ start: (job, ...rest) => (job === 1 ? defect() : start(job, ...rest)) }),
  ],
  [
    'waiting',
    ({ waiting }) => ({
      waiting: (job, ...rest) => (job === 1 ? defect() : waiting(job, ...rest)),
    }),
  ],
])('%s is not repeated', async (_call, replace) => {
  using folder = new TemporaryFolder();
  const store = await openStore(folder.path);
  const logged: object[] = [];
  const options: JobsOptions = {
    dataDir: folder.path,
    ...(await openParts(store, folder.path)),
    detector: new FakeDetector(),
    maxQueuedJobs: 10,
    resultTtlHours: 1,
    volumePatienceMs: 1_000,
    logger: { ...silent, error: (fields: object) => logged.push(fields) },
  };
  const jobs = await createJobs({ ...store, ...replace(store) }, options);
  jobs.start();
  const { job } = await jobs.service.submit(specOf());
  expect(await ended(jobs.service, job.jobId)).toMatchObject({
    status: 'failed',
    error: { code: 'internal_error' },
  });
  expect(logged).toContainEqual(
    expect.objectContaining({ job_id: job.jobId, stack: expect.any(String), cause: 'at row' }),
  );
  const next = await jobs.service.submit(specOf());
  expect(await ended(jobs.service, next.job.jobId)).toMatchObject({ status: 'completed' });
  await until(async () => {
    const { pending, running, queuedImages } = await jobs.service.counts();
    return pending === 0 && running === 0 && queuedImages === 0;
  }, 'counts');
  await jobs.stop(0);
});
