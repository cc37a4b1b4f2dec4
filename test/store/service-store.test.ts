/** The store by itself: what every body of `ServiceStore` has to keep. */
import { expect, test } from 'vitest';
import type { ImageOutcome, JobSpec } from '../../src/store/job.js';
import type { NewJob, StoredJob } from '../../src/store/job-records.js';
import { openStore, type ServiceStore } from '../../src/store/service-store.js';
import { TemporaryFolder, imagesNamed, specOf } from '../jobs/job-folder.js';

let lastJob = 0;
const PAGE = { limit: 10, perHost: 10, without: [] };

const failed: ImageOutcome = {
  status: 'error',
  error: {
    type: 'urn:lattice:error:invalid_image',
    title: 'Image cannot be decoded',
    status: 422,
    code: 'invalid_image',
    detail: 'Broken.',
  },
};

function newJob(spec: Partial<JobSpec> = {}, more: Partial<NewJob> = {}): NewJob {
  lastJob += 1;
  return {
    jobId: `job_${lastJob}`,
    spec: specOf(spec),
    submittedAt: 1000 + lastJob,
    idempotency: null,
    admit: true,
    ...more,
  };
}

async function withStore(body: (store: ServiceStore, folder: TemporaryFolder) => Promise<void>) {
  using folder = new TemporaryFolder();
  const store = await openStore(folder.path);
  try {
    await body(store, folder);
  } finally {
    await store.close();
  }
}

async function submit(store: ServiceStore, spec: Partial<JobSpec> = {}): Promise<StoredJob> {
  const submitted = await store.submit(newJob(spec));
  return submitted!.job;
}

const entry = (index: number, ok = true) => ({
  index,
  ok,
  outcome: ok ? '{"status":"ok","detections":[]}' : JSON.stringify(failed),
});

async function start(store: ServiceStore, spec: Partial<JobSpec> = {}) {
  const submitted = await submit(store, spec);
  const started = await store.start(submitted.number, 'w', 2000);
  if (started === null) throw new Error('not pending');
  return { ...started.job, fencingToken: started.fencingToken };
}

test('one operation that fails leaves its neighbours of the same group alone', () =>
  withStore(async (store) => {
    const good = newJob();
    const seen: number[] = [];
    store.onCommitted((events) => seen.push(...events.map(({ seq }) => seq)));
    const outcomes = await Promise.allSettled([
      store.submit(good),
      store.submit({ ...newJob(), jobId: good.jobId }),
      store.submit(newJob({ imagePaths: [] })),
      store.submit(newJob()),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
    ]);
    expect(outcomes[1]).toMatchObject({ reason: { code: 'internal_error' } });
    expect(seen).toEqual([1, 2]);
    expect(await store.counts()).toEqual({ pending: 2, running: 0, queuedImages: 2 });
  }));

test('the oldest job that waits is the first that has not started, however long others run', () =>
  withStore(async (store) => {
    expect(await store.oldestPendingAt()).toBeNull();
    const first = await submit(store);
    const second = await submit(store);
    const third = await submit(store);
    expect(await store.oldestPendingAt()).toBe(first.submittedAt);
    await store.start(first.number, 'w', 4_000);
    expect(await store.oldestPendingAt()).toBe(second.submittedAt);
    await store.cancel(second.jobId, null, 4_000);
    expect(await store.oldestPendingAt()).toBe(third.submittedAt);
    await store.start(third.number, 'w', 4_000);
    expect(await store.oldestPendingAt()).toBeNull();
  }));

test('events reach listeners before the promise of their call, in order', () =>
  withStore(async (store) => {
    const log: string[] = [];
    store.onCommitted((events) => log.push(...events.map(({ seq }) => `event ${seq}`)));
    await Promise.all(
      [1, 2, 3].map(() => submit(store).then(({ number }) => log.push(`job ${number}`))),
    );
    expect(log).toEqual(['event 1', 'event 2', 'event 3', 'job 1', 'job 2', 'job 3']);
  }));

test('a fencing token that is not the job’s is refused, an ended job takes nothing, an image keeps its first outcome', () =>
  withStore(async (store) => {
    const job = await start(store, { imagePaths: ['a', 'b'] });
    const record = (fencingToken: number, ...entries: ReturnType<typeof entry>[]) =>
      store.record(job.number, fencingToken, entries, 'w', 3000);

    expect(await record(job.fencingToken - 1, entry(0))).toBeNull();
    expect(await record(job.fencingToken, entry(0))).toMatchObject({ stored: 1, terminal: false });
    expect(await record(job.fencingToken, entry(0, false))).toMatchObject({ stored: 0 });
    expect(await record(job.fencingToken, entry(1, false))).toMatchObject({ terminal: true });
    expect(await record(job.fencingToken, entry(1))).toBeNull();
    expect((await store.tally(job.number)).failed).toBe(1);
    expect(await store.find(job.jobId, null)).toMatchObject({
      status: 'completed',
      completedAt: 3000,
    });
    expect(await store.start(job.number, 'w', 1)).toBeNull();
    const { events } = await store.events(0, 10);
    expect(events.map(({ event }) => event)).toEqual([
      'job_submitted',
      'job_started',
      'job_completed',
    ]);
  }));

test('a second opening has a higher fencing token and puts running jobs back', () =>
  withStore(async (first, folder) => {
    const job = await start(first, { imagePaths: ['a', 'b'] });
    await first.record(job.number, job.fencingToken, [entry(0)], 'w', 2500);
    await first.close();
    const second = await openStore(folder.path);
    expect([second.recoveredJobs, second.lastSeq]).toEqual([1, 2]);
    expect(await second.find(job.jobId, null)).toMatchObject({
      status: 'pending',
      startedAt: 2000,
    });
    const again = await second.start(job.number, 'w', 4000);
    expect(again?.fencingToken).toBeGreaterThan(job.fencingToken);
    expect(await second.waiting(job.number, 0, 10)).toEqual([{ index: 1, path: 'b', deaths: 0 }]);
    const late = await second.record(job.number, job.fencingToken, [entry(1)], 'w', 5000);
    expect(late).toBeNull();
    expect(await second.find(job.jobId, null)).toMatchObject({
      status: 'running',
      startedAt: 2000,
    });
    await second.close();
  }));

test('an idempotent repeat is the first job, another body is told so, owners do not meet', () =>
  withStore(async (store) => {
    const keyed = (fingerprint: string, keyId: string | null = null, admit = true) =>
      newJob({ keyId }, { idempotency: { key: 'k', fingerprint }, admit });
    const first = keyed('f');
    const [stored, replayed] = await Promise.all([store.submit(first), store.submit(keyed('f'))]);
    expect(stored).toMatchObject({ replayed: false });
    expect(replayed).toMatchObject({ replayed: true, job: { jobId: first.jobId } });
    await expect(store.submit(keyed('other'))).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
    expect(await store.submit(keyed('f', null, false))).toMatchObject({ replayed: true });
    expect(await store.repeated(null, { key: 'k', fingerprint: 'f' })).toMatchObject({
      jobId: first.jobId,
    });
    expect(await store.repeated(null, { key: 'k', fingerprint: 'other' })).toBeNull();
    expect(await store.repeated('someone', { key: 'k', fingerprint: 'f' })).toBeNull();
    expect(await store.submit(keyed('f', 'someone'))).toMatchObject({ replayed: false });
    expect(await store.submit(newJob({}, { admit: false }))).toBeNull();
  }));

test('lists are newest first, filtered, and go on below a number', () =>
  withStore(async (store) => {
    for (const keyId of ['a', 'b', 'a', 'b']) await submit(store, { keyId });
    await start(store, { keyId: 'a', jobType: 'batch_detect' });
    const numbers = async (...args: Parameters<ServiceStore['list']>) =>
      (await store.list(...args)).map(({ job }) => job.number);
    expect(await numbers({}, 3, null)).toEqual([5, 4, 3]);
    expect(await numbers({}, 3, { key: null, number: 3 })).toEqual([2, 1]);
    expect(await numbers({ keyId: 'a' }, 9, null)).toEqual([5, 3, 1]);
    expect(await numbers({ keyId: null }, 9, null)).toHaveLength(5);
    expect(await numbers({ status: ['running'] }, 9, null)).toEqual([5]);
    expect(await numbers({ status: ['running', 'pending'] }, 9, null)).toHaveLength(5);
    expect(await numbers({ status: [] }, 9, null)).toEqual([]);
    expect(await numbers({ jobType: 'batch_detect' }, 9, null)).toEqual([5]);
    const { submittedAt } = (await store.list({}, 1, { key: null, number: 4 }))[0]!.job;
    expect(await numbers({ submittedAfter: submittedAt }, 9, null)).toEqual([5, 4]);
    expect(await numbers({ submittedBefore: submittedAt }, 9, null)).toEqual([2, 1]);
  }));

const RETRY = { action: 'retry', status: 500, error: 'no' } as const;
const SENT = { at: 2999, durationMs: 12.5 };
const GAVE_UP = { action: 'gave_up', status: null, error: 'refused' } as const;

test('an end adds its webhook, which is delivered as the queue promises', () =>
  withStore(async (store) => {
    let added = 0;
    const stop = store.webhooks.onEnqueued(() => (added += 1));
    const url = 'http://example.test/hook';
    const job = await start(store, { callbackUrl: url });
    expect(await store.webhooks.nextDueAt()).toBeNull();
    expect(await store.webhooks.waitingCount()).toBe(0);
    await store.record(job.number, job.fencingToken, [entry(0)], 'w', 3000);
    expect(added).toBe(1);
    expect(await store.webhooks.nextDueAt()).toBe(3000);
    expect(await store.webhooks.due(2999, PAGE)).toEqual([]);
    const [delivery] = await store.webhooks.due(3000, PAGE);
    expect(delivery).toMatchObject({ jobId: job.jobId, url, attempt: 0, createdAt: 3000 });

    const { deliveryId } = delivery!;
    await store.webhooks.settle(delivery!, { ...RETRY, at: 3010 }, SENT);
    expect(await store.webhooks.waitingCount()).toBe(1);
    expect(await store.webhooks.due(3005, PAGE)).toEqual([]);
    expect(await store.webhooks.due(3010, PAGE)).toMatchObject([{ deliveryId, attempt: 1 }]);
    const again = { at: 3011, durationMs: 7 };
    const second = { deliveryId, attempt: 1 };
    await store.webhooks.settle(second, { action: 'succeeded', status: 204 }, again);
    expect(await store.webhooks.waitingCount()).toBe(0);
    await store.webhooks.settle(second, { ...GAVE_UP, error: 'too late' }, SENT);
    expect(await store.webhooks.forJob(job.jobId)).toEqual([
      {
        ...delivery!,
        attempt: 2,
        state: 'delivered',
        nextAttemptAt: null,
        lastStatus: 204,
        lastError: null,
        attemptsMade: 2,
        attempts: [
          { ...SENT, status: 500, error: 'no' },
          { ...again, status: 204, error: null },
        ],
      },
    ]);
    stop();
    const cancelled = await submit(store, { callbackUrl: url });
    await store.cancel(cancelled.jobId, null, 4000);
    expect(added).toBe(1);
    const [other] = await store.webhooks.due(9999, PAGE);
    await store.webhooks.settle(other!, GAVE_UP, SENT);
    expect(await store.webhooks.forJob(cancelled.jobId)).toMatchObject([
      { state: 'gave_up', attempt: 1, lastError: 'refused' },
    ]);
    expect(await store.webhooks.forJob('job_none')).toEqual([]);
  }));

test('a delivery that is begun anew is due at once with all its attempts ahead; the newest are kept', () =>
  withStore(async ({ webhooks, ...store }) => {
    let added = 0;
    webhooks.onEnqueued(() => (added += 1));
    const job = await start(store as ServiceStore, { callbackUrl: 'http://example.test/hook' });
    await store.record(job.number, job.fencingToken, [entry(0)], 'w', 3000);
    const due = async (now: number) => (await webhooks.due(now, PAGE))[0]!;
    const { deliveryId } = await due(3000);
    const retry = { ...RETRY, at: 3000 };
    for (let attempt = 0; attempt < 24; attempt += 1) {
      await webhooks.settle({ deliveryId, attempt }, retry, { at: 3000 + attempt, durationMs: 1 });
    }
    await webhooks.settle({ deliveryId, attempt: 24 }, GAVE_UP, { at: 3024, durationMs: 1 });
    const [given] = await webhooks.forJob(job.jobId);
    expect(given).toMatchObject({ state: 'gave_up', attemptsMade: 25, nextAttemptAt: null });
    expect(given!.attempts.map(({ at }) => at)).toEqual(
      Array.from({ length: 20 }, (_, index) => 3005 + index),
    );
    expect(await webhooks.due(9999, PAGE)).toEqual([]);

    expect(await webhooks.redeliver('job_none', 4000)).toBe(0);
    expect(await webhooks.redeliver(job.jobId, 4000)).toBe(1);
    expect(added).toBe(2);
    expect(await due(4000)).toMatchObject({ deliveryId, attempt: 0 });
    await webhooks.settle({ deliveryId, attempt: 0 }, { ...retry, at: 4005 }, SENT);
    // Begun anew while the second attempt was on its way: its end does not end the delivery.
    await webhooks.redeliver(job.jobId, 4003);
    await webhooks.settle({ deliveryId, attempt: 1 }, GAVE_UP, SENT);
    expect(await due(4003)).toMatchObject({ deliveryId, attempt: 1 });
    expect(await webhooks.forJob(job.jobId)).toMatchObject([
      { state: 'pending', attemptsMade: 27, nextAttemptAt: 4003, lastError: 'refused' },
    ]);
  }));

test('a page of images ends once it is full, and holds one image at least', () =>
  withStore(async (store) => {
    const job = await start(store, { imagePaths: imagesNamed('p', 40) });
    const sized = imagesNamed('p', 40).map((_, index) => ({
      ...entry(index),
      outcome: JSON.stringify({
        status: 'error',
        error: 'x'.repeat(index < 20 ? 40 * 1024 : 400 * 1024),
      }),
    }));
    await store.record(job.number, job.fencingToken, sized, 'w', 5000);
    const indexes = async (from: number, limit: number) =>
      (await store.images(job.number, from, limit)).map(({ index }) => index);
    expect(await indexes(0, 1000)).toEqual([0, 1, 2, 3]);
    expect(await indexes(4, 2)).toEqual([4, 5]);
    expect(await indexes(25, 1000)).toEqual([25]);
    expect(await indexes(40, 1000)).toEqual([]);
  }));

test('the sweep takes what is past its time, in steps, and leaves the rest', () =>
  withStore(async (store) => {
    const finish = async (job: StoredJob & { fencingToken: number }, at: number) => {
      const entries = imagesNamed('p', job.imageCount).map((_, index) => entry(index));
      await store.record(job.number, job.fencingToken, entries, 'w', at);
    };
    const big = await start(store, { imagePaths: imagesNamed('p', 2500) });
    await finish(big, 5000);
    const owing = await start(store, { callbackUrl: 'http://example.test/' });
    await finish(owing, 5000);
    const young = await start(store);
    await finish(young, 6000);
    const open = await submit(store);

    const limits = { jobsBefore: 5500, eventsBefore: 1900, keysBefore: 5500 };
    const first = await store.sweep(limits);
    expect(first).toEqual({ removed: 1, copies: [], more: true });
    await expect(store.find(big.jobId, null)).rejects.toMatchObject({ code: 'job_not_found' });
    let steps = 1;
    for (let more = true; more; steps += 1) ({ more } = await store.sweep(limits));
    expect(steps).toBe(3);
    expect(await store.images(big.number, 0, 10)).toEqual([]);
    for (const { jobId } of [owing, young, open]) await store.find(jobId, null);

    const { events, gap } = await store.events(0, 100);
    expect(gap).toBe(true);
    expect(events.map(({ seq }) => seq)).toEqual(
      events.map((_, index) => (events[0]?.seq ?? 0) + index),
    );
    const last = events.at(-1)!.seq;
    expect(await store.events(last, 10)).toEqual({ events: [], gap: false });
    expect((await store.events(last + 1, 10)).gap).toBe(true);
  }));

test('what is due is read without the backlog of a host that is left out', () =>
  withStore(async (store) => {
    const urls = [...Array<string>(300).fill('http://full.test/hook'), 'https://free.test:8443/x'];
    for (const [index, callbackUrl] of urls.entries()) {
      const job = await submit(store, { callbackUrl });
      await store.cancel(job.jobId, null, 3_000 + index);
    }
    const due = (without: string[]) =>
      store.webhooks.due(9_999, { limit: 100, perHost: 10, without });
    const hosts = (await due([])).map(({ host }) => host);
    expect(hosts).toEqual([...Array<string>(10).fill('full.test'), 'free.test:8443']);
    expect(await due(['full.test'])).toMatchObject([{ host: 'free.test:8443' }]);
    expect(await due(['full.test', 'free.test:8443'])).toEqual([]);
    expect(await store.webhooks.due(9_999, { limit: 3, perHost: 10, without: [] })).toHaveLength(3);
  }));
