import { describe, expect, test, vi } from 'vitest';
import { jobResultSchema } from '../../../../src/answers/result-record.js';
import { jobStatusSchema } from '../../../../src/http/routes/jobs/jobs.js';
import { compose, get, ROOT, submitted } from '../../../support/composed-app.js';
import { pendingDelivery } from '../../../support/ended-job.js';
import { HeldJobs } from '../../../support/held-jobs.js';
import { errorOutcome, okOutcome } from '../../../support/outcomes.js';

const bad = errorOutcome('invalid_image', `${ROOT}/b.jpg is damaged.`);

describe('status', () => {
  test('follows the job from pending to its end', async () => {
    const app = compose();
    const id = await submitted(app, { image_paths: ['a.jpg', 'b.jpg'], priority: 3 });
    const status = async (): Promise<unknown> => (await get(app, `/v1/jobs/${id}/status`)).body;
    expect(await status()).toEqual({
      job_id: id,
      status: 'pending',
      submitted_at: expect.closeTo(Date.now() / 1000, -1),
      started_at: null,
      completed_at: null,
      progress: 0,
      worker_id: '',
      job_type: 'batch_detect',
      title: 'a.jpg and 1 more',
      model_name: 'yolov8n.pt',
      confidence_threshold: 0.5,
      priority: 3,
      image_count: 2,
      finished_images: 0,
      failed_images: 0,
      not_run_images: 0,
      total_count: 0,
      class_counts: {},
      reused_images: 0,
      models: [],
      retry_of: null,
      request_id: expect.any(String),
      name: null,
      tags: [],
      notes: null,
      keep: false,
      kept: false,
      expires_at: null,
      upload: null,
      watch: null,
      error: null,
    });
    await app.jobs.start(id);
    await app.jobs.progress(id, 1);
    expect(await status()).toMatchObject({
      status: 'running',
      progress: 0.5,
      worker_id: 'worker-1',
      started_at: expect.any(Number),
      completed_at: null,
    });
    await app.jobs.finish(id, [okOutcome(), okOutcome()]);
    const ended = await status();
    expect(ended).toMatchObject({ status: 'completed', progress: 1 });
    expect(jobStatusSchema.parse(ended)).toEqual(ended);
  });

  test('a failed job shows its error without server folders', async () => {
    const app = compose();
    const id = await submitted(app);
    await app.jobs.finish(id, [bad]);
    const { body } = await get(app, `/v1/jobs/${id}/status`);
    expect(body).toMatchObject({
      status: 'failed',
      error: {
        code: 'invalid_image',
        status: 422,
        detail: 'b.jpg is damaged.',
      },
    });
  });

  test('webhook states are shown for jobs with a callback', async () => {
    const begun: string[] = [];
    const redeliver = (jobId: string) => Promise.resolve(begun.push(jobId));
    const app = compose(
      {},
      { webhooks: { forJob: () => Promise.resolve([pendingDelivery]), redeliver } },
    );
    const id = await submitted(app, { callback_url: 'http://h/x' });
    expect((await get(app, `/v1/jobs/${id}/status`)).body.webhooks).toEqual([
      {
        webhook_id: 'msg_1',
        state: 'pending',
        attempts: 8,
        created_at: 1.5,
        next_attempt_at: 6.5,
        last_status: 500,
        last_error: 'HTTP 500',
      },
    ]);
    const plain = await submitted(app);
    expect((await get(app, `/v1/jobs/${plain}/status`)).body).not.toHaveProperty('webhooks');
  });

  test.each([
    ['nothing'],
    ['00000000-0000-0000-0000-000000000000'],
    ['x'.repeat(5_000)],
    ['%00'],
    ['a%2Fb'],
  ])('job %s is not found', async (id) => {
    for (const [path, method] of [
      [`/v1/jobs/${id}/status`, 'GET'],
      [`/v1/jobs/${id}/result`, 'GET'],
      [`/v1/jobs/${id}`, 'DELETE'],
    ] as const) {
      const answer = await get(compose(), path, {}, method);
      expect(answer).toMatchObject({ status: 404, body: { code: 'job_not_found', status: 404 } });
    }
  });
});

describe('result', () => {
  test('before the end it is 409 with Retry-After', async () => {
    const app = compose();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 10_000 });
    const id = await submitted(app, { image_paths: ['a.jpg', 'b.jpg', 'c.jpg', 'd.jpg'] });
    const pending = await get(app, `/v1/jobs/${id}/result`);
    expect(pending).toMatchObject({ status: 409, body: { code: 'job_not_finished' } });
    expect(pending.headers.get('retry-after')).toBe('1');
    await app.jobs.start(id);
    vi.useRealTimers();
    await app.jobs.progress(id, 2);
    const running = await get(app, `/v1/jobs/${id}/result`);
    expect(running.status).toBe(409);
    const seconds = Number(running.headers.get('retry-after'));
    expect(seconds >= 10 && seconds <= 20, `${seconds} s`).toBe(true);
  });

  test('one image: the shape of the interface with additions', async () => {
    const app = compose();
    const metadata = { order: 7, tags: ['a'] };
    const id = await submitted(app, { metadata });
    await app.jobs.finish(id, [okOutcome(['Car', 'bus', 'car'])]);
    const { status, body } = await get(app, `/v1/jobs/${id}/result`);
    expect(status).toBe(200);
    expect(jobResultSchema.parse(body)).toEqual(body);
    expect(body).toMatchObject({
      job_id: id,
      status: 'completed',
      error: null,
      submitted_at: expect.any(Number),
      completed_at: expect.any(Number),
      metadata,
      result: {
        image_path: 'a.jpg',
        car_count: 2,
        total_count: 3,
        class_counts: { Car: 1, bus: 1, car: 1 },
        processing_time_ms: 11.4,
        model: 'yolov8n.pt',
      },
    });
    expect(body.result.detections).toHaveLength(3);
  });

  test('several images: one entry each in order, failures beside successes', async () => {
    const app = compose();
    const id = await submitted(app, { image_paths: ['a.jpg', 'b.jpg', 'c.jpg'] });
    await app.jobs.finish(id, [okOutcome(['car', 'bus']), bad, okOutcome(['car'])]);
    const { body } = await get(app, `/v1/jobs/${id}/result`);
    expect(jobResultSchema.parse(body)).toEqual(body);
    expect(body).toMatchObject({
      status: 'completed',
      metadata: null,
      result: {
        images: [
          { image_path: 'a.jpg', status: 'ok', car_count: 1, total_count: 2 },
          {
            image_path: 'b.jpg',
            status: 'error',
            error: { code: 'invalid_image', detail: 'b.jpg is damaged.' },
          },
          { image_path: 'c.jpg', status: 'ok' },
        ],
        car_count: 2,
        total_count: 3,
        class_counts: { car: 2, bus: 1 },
        succeeded: 2,
        failed: 1,
      },
    });
  });

  test('a failed single image has an error and no result', async () => {
    const app = compose();
    const id = await submitted(app);
    await app.jobs.finish(id, [bad]);
    const { status, body } = await get(app, `/v1/jobs/${id}/result`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'failed',
      result: null,
      error: { code: 'invalid_image' },
    });
  });

  test('a cancelled job keeps its finished images and marks the others cancelled', async () => {
    const app = compose();
    const id = await submitted(app, { image_paths: ['a.jpg', 'b.jpg'] });
    await app.jobs.progress(id, 1);
    await app.jobs.service.cancel(id, null);
    const { body } = await get(app, `/v1/jobs/${id}/result`);
    expect(body.result.images).toMatchObject([
      { status: 'ok' },
      { status: 'error', error: { code: 'cancelled' } },
    ]);
  });
});

describe('cancel', () => {
  test('ends the job once', async () => {
    const app = compose();
    const id = await submitted(app);
    const first = await get(app, `/v1/jobs/${id}`, {}, 'DELETE');
    expect(first).toMatchObject({
      status: 200,
      body: { job_id: id, status: 'failed', error: { code: 'cancelled' } },
    });
    const second = await get(app, `/v1/jobs/${id}`, {}, 'DELETE');
    expect(second).toMatchObject({ status: 409, body: { code: 'job_already_finished' } });
  });
});

test('a failure of the store is a problem on every job route', async () => {
  await using jobs = await HeldJobs.open();
  const app = compose({}, {}, jobs);
  const id = await submitted(app);
  await jobs.loseStore();
  for (const path of [`/v1/jobs/${id}/status`, `/v1/jobs/${id}/result`]) {
    const answer = await get(app, path);
    expect(answer).toMatchObject({ status: 503, body: { code: 'storage_unavailable' } });
    expect(answer.headers.get('retry-after')).toBe('1');
  }
});
