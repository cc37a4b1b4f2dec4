/** `POST /v1/jobs/{job_id}/retry`: what it answers, and what it refuses. */
import { expect, test } from 'vitest';
import { jobRetriedSchema } from '../../../../src/http/routes/jobs/submissions.js';
import { compose, get, type Harness, submitted } from '../../../support/composed-app.js';
import { errorOutcome, okOutcome } from '../../../support/outcomes.js';

const image_paths = ['a.jpg', 'b.jpg', 'c.jpg'];

const retry = (app: Harness, id: string, headers: Record<string, string> = {}) =>
  get(app, `/v1/jobs/${id}/retry`, headers, 'POST');

async function endedWithFailures(app: Harness, fields: object = {}): Promise<string> {
  const id = await submitted(app, { image_paths, ...fields });
  await app.jobs.finish(id, [
    errorOutcome('invalid_image'),
    okOutcome(),
    errorOutcome('image_not_found'),
  ]);
  return id;
}

test('failed images are counted in status, list and result; a retry runs them again', async () => {
  const app = compose();
  const id = await endedWithFailures(app, { confidence_threshold: 0.25, priority: 3 });
  const counted = { finished_images: 3, failed_images: 2, retry_of: null };
  expect((await get(app, `/v1/jobs/${id}/status`)).body).toMatchObject(counted);
  expect((await get(app, '/v1/jobs?limit=1')).body.jobs).toMatchObject([counted]);
  expect((await get(app, `/v1/jobs/${id}/result`)).body).toMatchObject({
    failed_images: 2,
    result: { succeeded: 1, failed: 2 },
  });

  const { status, headers, body } = await retry(app, id);
  expect(status).toBe(202);
  expect(jobRetriedSchema.parse(body)).toEqual(body);
  expect(body).toMatchObject({ retry_of: id, message: 'Job accepted with 2 images.' });
  expect(headers.get('location')).toBe(`/v1/jobs/${body.job_id}/status`);
  expect(await app.jobs.specOf(body.job_id as string)).toMatchObject({
    imagePaths: ['a.jpg', 'c.jpg'],
    options: { confidence: 0.25 },
    priority: 3,
  });
  expect((await get(app, `/v1/jobs/${body.job_id}/status`)).body).toMatchObject({
    retry_of: id,
    failed_images: 0,
  });
});

test('a repeat with the same key gives the first retry, also while new work is refused', async () => {
  const app = compose();
  const id = await endedWithFailures(app);
  const key = { 'idempotency-key': 'again-1' };
  const first = await retry(app, id, key);
  app.state.draining = true;
  const second = await retry(app, id, key);
  expect(second.body.job_id).toBe(first.body.job_id);
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  expect(first.headers.get('idempotency-replayed')).toBeNull();
});

test('what cannot be retried is refused with its reason', async () => {
  const app = compose();
  const running = await submitted(app, { image_paths });
  const unfinished = await retry(app, running);
  expect(unfinished).toMatchObject({ status: 409, body: { code: 'job_not_finished' } });
  expect(unfinished.headers.get('retry-after')).toBe('1');
  await app.jobs.finish(running, [okOutcome(), okOutcome(), okOutcome()]);
  expect(await retry(app, running)).toMatchObject({
    status: 422,
    body: { code: 'nothing_to_retry' },
  });
  expect(await retry(app, 'job_none')).toMatchObject({
    status: 404,
    body: { code: 'job_not_found' },
  });
  const failed = await endedWithFailures(app);
  const query = `/v1/jobs/${failed}/retry?images=all&model_name=absent`;
  expect((await get(app, query, {}, 'POST')).body.code).toBe('unknown_model');
  expect(await retry(app, failed, { 'idempotency-key': '""' })).toMatchObject({
    status: 422,
    body: { code: 'validation_failed' },
  });
  app.state.draining = true;
  expect(await retry(app, failed)).toMatchObject({ status: 503, body: { code: 'shutting_down' } });
});
