import { describe, expect, test } from 'vitest';
import { compose, get, submitted } from '../../../support/composed-app.js';
import { HeldJobs } from '../../../support/held-jobs.js';
import { okOutcome } from '../../../support/outcomes.js';

describe('list', () => {
  test('pages through all jobs, newest first', async () => {
    await using jobs = await HeldJobs.open();
    const app = compose({}, {}, jobs);
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.unshift(await submitted(app));
    const seen: string[] = [];
    let query = '?limit=2';
    for (;;) {
      const { status, body } = await get(app, `/v1/jobs${query}`);
      expect(status).toBe(200);
      seen.push(...(body.jobs as { job_id: string }[]).map((job) => job.job_id));
      if (body.next_cursor === null) break;
      query = `?limit=2&cursor=${body.next_cursor}`;
    }
    expect(seen).toEqual(ids);
  });

  test('filters by status, type and time', async () => {
    await using jobs = await HeldJobs.open();
    const app = compose({}, {}, jobs);
    const done = await submitted(app);
    await app.jobs.finish(done, [okOutcome()]);
    await submitted(app, { job_type: 'detect_cars' });
    const listed = async (query: string) =>
      ((await get(app, `/v1/jobs?${query}`)).body.jobs as { status: string }[]).map(
        (job) => job.status,
      );
    expect(await listed('status=completed')).toEqual(['completed']);
    expect(await listed('status=completed,pending')).toEqual(['pending', 'completed']);
    expect(await listed('job_type=detect_cars')).toEqual(['pending']);
    expect(await listed('submitted_after=9999999999')).toEqual([]);
    expect(await listed('submitted_before=9999999999.5&limit=100')).toHaveLength(2);
  });

  test.each([
    ['limit=0'],
    ['limit=101'],
    ['limit=1.5'],
    ['limit=ten'],
    ['limit='],
    ['status='],
    ['status=done'],
    ['status=pending,'],
    ['job_type=x'],
    ['submitted_after=-1'],
    ['submitted_after=yesterday'],
    ['cursor='],
    [`cursor=${'c'.repeat(513)}`],
    ['colour=red'],
    ['limit=1&limit=2'],
  ])('%s is refused', async (query) => {
    const answer = await get(compose(), `/v1/jobs?${query}`);
    expect(answer).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
    expect(answer.body.detail).not.toContain('missing');
  });

  test.each([
    ['status=done', ['done']],
    ['status=pending,done,lost', ['done', 'lost']],
    ['status=', ['']],
  ])('the error of %s has the name that the caller wrote', async (query, wrong) => {
    const { body } = await get(compose(), `/v1/jobs?${query}`);
    expect(body.errors).toEqual(
      wrong.map((part) => ({
        detail: `status: '${part}' is none of pending, running, completed, failed.`,
      })),
    );
  });
});
