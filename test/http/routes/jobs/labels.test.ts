/**
 * Labels that people set on jobs: at submission and later, over HTTP; the removal of jobs; how they are found again.
 */
import { describe, expect, test } from 'vitest';
import { jobStatusSchema, type JobStatusBody } from '../../../../src/http/routes/jobs/jobs.js';
import { ApiKeys } from '../../../../src/http/access/api-keys.js';
import {
  compose,
  get,
  post,
  submitted,
  type Answer,
  type Harness,
} from '../../../support/composed-app.js';
import { HeldJobs } from '../../../support/held-jobs.js';
import { errorOutcome, okOutcome } from '../../../support/outcomes.js';

const DAY = 86_400;
const WEEK = 7 * DAY;

async function statusOf(app: Harness, id: string): Promise<JobStatusBody> {
  const { body } = await get(app, `/v1/jobs/${id}/status`);
  expect(jobStatusSchema.parse(body)).toEqual(body);
  return body as JobStatusBody;
}

async function listed(app: Harness, query: string): Promise<JobStatusBody[]> {
  const { status, body } = await get(app, `/v1/jobs?${query}`);
  expect(status, query).toBe(200);
  return body.jobs as JobStatusBody[];
}

const patch = (
  app: Harness,
  path: string,
  labels: object,
  headers: Record<string, string> = {},
): Promise<Answer> => post(app, path, labels, headers, 'PATCH');

const idsOf = (jobs: readonly JobStatusBody[]) => jobs.map(({ job_id: id }) => id);

describe('labels', () => {
  test('of a submission are in its status and in the list', async () => {
    await using jobs = await HeldJobs.open();
    const app = compose({}, {}, jobs);
    const id = await submitted(app, {
      name: '  North gate, Monday ',
      tags: [' gate ', 'night', 'gate'],
      notes: 'Two lamps\nwere off.',
      keep: true,
    });
    const labels = {
      name: 'North gate, Monday',
      title: 'North gate, Monday',
      tags: ['gate', 'night'],
      notes: 'Two lamps\nwere off.',
      keep: true,
      kept: true,
      expires_at: null,
    };
    expect(await statusOf(app, id)).toMatchObject(labels);
    expect(await listed(app, '')).toMatchObject([labels]);
  });

  test('change at any time: null clears, what is left out stays', async () => {
    await using jobs = await HeldJobs.open();
    const app = compose({}, {}, jobs);
    const id = await submitted(app, { name: 'First', tags: ['a'], notes: 'n' });
    await jobs.start(id);
    const { status, body } = await patch(app, `/v1/jobs/${id}`, { name: 'Second', keep: 2 });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ status: 'running', name: 'Second', tags: ['a'], notes: 'n' },
      ...{ keep: 2, kept: true, expires_at: null },
    });
    await jobs.finish(id, [okOutcome()]);
    const cleared = await patch(app, `/v1/jobs/${id}`, { tags: null, notes: '', name: null });
    expect(cleared.body).toMatchObject({ name: null, title: 'a.jpg', tags: [], notes: null });
    await patch(app, `/v1/jobs/${id}`, {});
    await jobs.reopen();
    const again = compose({}, {}, jobs);
    expect(await statusOf(again, id)).toMatchObject({ name: null, tags: [], keep: 2 });
  });

  test('a result lasts its time from the end on, or as many days from the request as are asked for', async () => {
    await using jobs = await HeldJobs.open();
    const app = compose({}, {}, jobs);
    const id = await submitted(app);
    expect((await statusOf(app, id)).expires_at).toBeNull();
    await jobs.finish(id, [okOutcome()]);
    const { completed_at: end, expires_at: expiry } = await statusOf(app, id);
    expect(expiry).toBeCloseTo(end! + WEEK, 3);
    const keep = async (days: unknown) =>
      (await patch(app, `/v1/jobs/${id}`, { keep: days })).body as JobStatusBody;
    const now = Date.now() / 1000;
    expect((await keep(30)).expires_at).toBeCloseTo(now + 30 * DAY, -2);
    // Never less than without it.
    expect((await keep(1)).expires_at).toBeCloseTo(end! + WEEK, 3);
    expect(await keep(true)).toMatchObject({ kept: true, expires_at: null });
    expect(await keep(false)).toMatchObject({ kept: false, keep: false });
  });

  test('of a retry: name and tags of the first job, not its notes and keep', async () => {
    await using jobs = await HeldJobs.open();
    const app = compose({}, {}, jobs);
    const id = await submitted(app, {
      ...{ image_paths: ['a.jpg', 'b.jpg'], name: 'N', tags: ['t'], notes: 'n', keep: true },
    });
    await jobs.finish(id, [okOutcome(), errorOutcome('invalid_image', 'It is damaged.')]);
    const { body } = await get(app, `/v1/jobs/${id}/retry`, {}, 'POST');
    expect(await statusOf(app, body.job_id as string)).toMatchObject({
      ...{ retry_of: id, name: 'N', tags: ['t'], notes: null, keep: false, image_count: 1 },
    });
  });

  test.each([
    ['#/name', 'at most 200 characters', { name: 'x'.repeat(201) }],
    ['#/name', 'no line breaks', { name: 'two\nlines' }],
    ['#/name', 'no line breaks', { name: 'two\u2028lines' }],
    ['#/tags/0', 'at most 50 characters', { tags: ['x'.repeat(51)] }],
    ['#/tags/1', 'at least one character', { tags: ['ok', '  '] }],
    ['#/tags', 'more than 20', { tags: Array(21).fill('t') }],
    ['#/notes', 'at most 10000 characters', { notes: 'x'.repeat(10_001) }],
    ['#/notes', 'control characters', { notes: 'a\u0000b' }],
    ['#/keep', 'days from 1 to 36500', { keep: 0 }],
    ['#/keep', 'days from 1 to 36500', { keep: 1.5 }],
    ['#/keep', 'days from 1 to 36500', { keep: 'yes' }],
  ])('%s is refused, at submission and later: %s', async (pointer, says, fields) => {
    const app = compose();
    const id = await submitted(app);
    const job = { job_type: 'batch_detect', image_paths: ['a.jpg'], ...fields };
    for (const answer of [
      await post(app, '/v1/jobs/submit', job),
      await patch(app, `/v1/jobs/${id}`, fields),
    ]) {
      expect(answer).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
      expect(answer.body.errors[0].pointer).toBe(pointer);
      expect(answer.body.detail).toContain(says);
    }
  });

  test('characters count, not their parts in memory', async () => {
    const app = compose();
    const name = '🚗'.repeat(200);
    expect((await statusOf(app, await submitted(app, { name }))).name).toBe(name);
  });

  test('other fields of a job cannot be changed, and no other key can change it', async () => {
    const keys = ApiKeys.parse('lat_alice_0123456789abcdef alice\nlat_bob_0123456789abcdef bob');
    const app = compose({}, { apiKeys: keys });
    const as = (name: string) => ({ authorization: `Bearer lat_${name}_0123456789abcdef` });
    const id = await submitted(app, {}, as('alice'));
    expect(await patch(app, `/v1/jobs/${id}`, { priority: 3 }, as('alice'))).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '#/priority' }] },
    });
    const bobs = await patch(app, `/v1/jobs/${id}`, { name: 'x' }, as('bob'));
    expect(bobs).toMatchObject({ status: 404, body: { code: 'job_not_found' } });
    expect(await get(app, `/v1/jobs/${id}?purge=true`, as('bob'), 'DELETE')).toMatchObject({
      status: 404,
    });
  });
});

describe('removal', () => {
  test('takes an ended job, its images and its pending webhook; one that runs is refused', async () => {
    await using jobs = await HeldJobs.open();
    const app = compose({}, {}, jobs);
    const id = await submitted(app, { callback_url: 'http://127.0.0.1/x', keep: true });
    const remove = () => get(app, `/v1/jobs/${id}?purge=true`, {}, 'DELETE');
    expect(await remove()).toMatchObject({
      status: 409,
      body: { code: 'job_not_finished', detail: 'The job is pending: cancel it first.' },
    });
    await jobs.finish(id, [okOutcome(['car', 'bus', 'car'])]);
    expect(await jobs.webhooks.waitingCount()).toBe(1);
    const removed = await remove();
    expect(removed).toMatchObject({ status: 200, body: { job_id: id, total_count: 3 } });
    for (const path of ['status', 'result', 'images', 'summary']) {
      expect(await get(app, `/v1/jobs/${id}/${path}`)).toMatchObject({ status: 404 });
    }
    expect(await jobs.webhooks.waitingCount()).toBe(0);
    expect(await listed(app, '')).toEqual([]);
    expect(await remove()).toMatchObject({ status: 404 });
  });

  test.each(['purge=yes', 'purge=', 'now=true', 'purge=true&purge=true'])(
    'refuses %s',
    async (query) => {
      const app = compose();
      const answer = await get(app, `/v1/jobs/${await submitted(app)}?${query}`, {}, 'DELETE');
      expect(answer).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
    },
  );
});

describe('a list', () => {
  test('finds words in name, typed paths, tags, notes and the title of the metadata, in any letter case', async () => {
    await using jobs = await HeldJobs.open();
    const app = compose({}, {}, jobs);
    const named = await submitted(app, { name: 'ÉCOLE Straße' });
    const typed = await submitted(app, { image_paths: ['2026/Größe/a.jpg', 'other/b.jpg'] });
    const tagged = await submitted(app, { tags: ['Nacht-Übung'] });
    const noted = await submitted(app, { notes: 'Lamp of the\nSOUTH gate' });
    const titled = await submitted(app, { metadata: { title: 'ΣΊΣΥΦΟΣ' } });
    const found = async (q: string) => idsOf(await listed(app, `q=${encodeURIComponent(q)}`));
    expect(await found('école')).toEqual([named]);
    expect(await found('e\u0301COLE')).toEqual([named]);
    expect(await found('STRASSE')).toEqual([named]);
    expect(await found('grösse')).toEqual([typed]);
    expect(await found('OTHER/')).toEqual([typed]);
    expect(await found('übung')).toEqual([tagged]);
    expect(await found('gate  lamp')).toEqual([noted]);
    expect(await found('σίσυφος')).toEqual([titled]);
    expect(await found('σίσυφοσ')).toEqual([titled]);
    expect(await found('gate école')).toEqual([]);
    expect(await found(' ')).toHaveLength(5);
    await patch(app, `/v1/jobs/${named}`, { name: 'Renamed' });
    expect(await found('école')).toEqual([]);
    expect(await found('RENAMED')).toEqual([named]);
  });

  test('finds whole tags, models and types together, and counts the states of what it finds', async () => {
    await using jobs = await HeldJobs.open();
    const app = compose({}, {}, jobs);
    const gate = await submitted(app, { tags: ['Gate'], name: 'one' });
    await submitted(app, { tags: ['gateway'] });
    const both = await submitted(app, { tags: ['x', 'GATE'], job_type: 'detect_cars' });
    await jobs.finish(gate, [okOutcome()]);
    expect(idsOf(await listed(app, 'tag=gate'))).toEqual([both, gate]);
    expect(idsOf(await listed(app, 'tag=gate&job_type=detect_cars'))).toEqual([both]);
    expect(idsOf(await listed(app, 'tag=gate&status=completed&q=ONE'))).toEqual([gate]);
    expect(await listed(app, 'model_name=yolov8n')).toHaveLength(3);
    expect(await listed(app, 'model_name=other.pt')).toEqual([]);
    const { body } = await get(app, '/v1/jobs?tag=gate&counts=true');
    expect(body.counts).toEqual({ pending: 1, running: 0, completed: 1, failed: 0 });
  });

  test('tells model, threshold and boxes by class of each job', async () => {
    await using jobs = await HeldJobs.open();
    const app = compose({}, {}, jobs);
    const image_paths = ['a.jpg', 'b.jpg'];
    const id = await submitted(app, { image_paths, confidence_threshold: 0.4 });
    await submitted(app);
    await jobs.finish(id, [okOutcome(['car', 'bus']), okOutcome(['car'])]);
    expect(await listed(app, '')).toMatchObject([
      { total_count: 0, class_counts: {} },
      {
        ...{ model_name: 'yolov8n.pt', confidence_threshold: 0.4 },
        ...{ total_count: 3, class_counts: { car: 2, bus: 1 } },
      },
    ]);
  });

  test('has each job once in every order, page by page, also where keys are equal', async () => {
    await using jobs = await HeldJobs.open();
    const app = compose({}, {}, jobs);
    const names = ['b', 'A', 'c', 'a', 'B', 'ä', 'b'];
    const ids: string[] = [];
    for (const name of names) ids.push(await submitted(app, { name }));
    for (const id of [ids[3]!, ids[0]!, ids[5]!]) await jobs.finish(id, [okOutcome()]);
    const inOrder = async (sort: string, filter = '') => {
      const seen: string[] = [];
      let cursor = '';
      do {
        const { body } = await get(app, `/v1/jobs?limit=2&sort=${sort}${filter}${cursor}`);
        seen.push(...idsOf(body.jobs as JobStatusBody[]));
        cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`;
      } while (cursor !== '');
      return seen.map((id) => ids.indexOf(id));
    };
    const orders = {
      submitted: [6, 5, 4, 3, 2, 1, 0],
      // Those that have not ended, newest first, then the last to end first.
      ended: [6, 4, 2, 1, 5, 0, 3],
      // Jobs of one name in the order of their submission.
      name: [1, 3, 0, 4, 6, 2, 5],
    };
    for (const [sort, order] of Object.entries(orders)) {
      expect(await inOrder(sort), sort).toEqual(order);
      expect(await inOrder(`-${sort}`), `-${sort}`).toEqual([...order].reverse());
      const pending = order.filter((at) => ![0, 3, 5].includes(at));
      expect(await inOrder(sort, '&status=pending&q=+'), sort).toEqual(pending);
    }
    const { body } = await get(app, '/v1/jobs?limit=2&sort=name');
    const other = await get(app, `/v1/jobs?limit=2&sort=ended&cursor=${body.next_cursor}`);
    expect(other).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
    expect(other.body.detail).toContain('sorted by ended');
  });

  test.each(['sort=size', 'tag=', `tag=${'x'.repeat(51)}`, `q=${'x'.repeat(201)}`, 'model_name='])(
    'refuses a wrong query %#',
    async (query) => {
      const answer = await get(compose(), `/v1/jobs?${query}`);
      expect(answer).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
    },
  );
});

test('a cancelled job says how many images failed and how many were not run, everywhere the same', async () => {
  await using jobs = await HeldJobs.open();
  const app = compose({}, {}, jobs);
  const image_paths = ['a.jpg', 'b.jpg', 'c.jpg', 'd.jpg', 'e.jpg'];
  const id = await submitted(app, { image_paths });
  await jobs.progress(id, 2, [okOutcome(['car']), errorOutcome('invalid_image', 'Damaged.')]);
  const cancelled = await get(app, `/v1/jobs/${id}`, {}, 'DELETE');
  const figures = { failed_images: 1, not_run_images: 3 };
  expect(cancelled.body).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
  expect(cancelled.body).toMatchObject({ ...figures, finished_images: 2 });
  expect(await statusOf(app, id)).toMatchObject(figures);
  const of = (path: string) => get(app, `/v1/jobs/${id}/${path}`);
  expect((await of('summary')).body.images).toEqual({
    ...{ found: 1, empty: 0, failed: 1, pending: 0, not_run: 3 },
  });
  expect((await of('counts')).body).toMatchObject({
    ...{ pending_images: 0, not_run_images: 3, total: { images: 2, failed_images: 1 } },
  });
  const { body: record } = await of('result');
  expect(record).toMatchObject({ ...figures, result: { succeeded: 1, failed: 1, not_run: 3 } });
  const codes = (record.result.images as { error?: { code: string } }[]).map(
    ({ error }) => error?.code,
  );
  expect(codes).toEqual([undefined, 'invalid_image', 'cancelled', 'cancelled', 'cancelled']);
  expect((await of('images?outcome=not_run')).body).toMatchObject({ matching: 3 });
  expect((await of('images?outcome=failed')).body).toMatchObject({ matching: 1 });
});
