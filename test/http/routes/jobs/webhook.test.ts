/** The routes of a job's webhook deliveries. */
import { describe, expect, test } from 'vitest';
import type { WebhookDeliveryState } from '../../../../src/store/webhook-delivery.js';
import { deliveryListSchema } from '../../../../src/http/routes/jobs/webhooks.js';
import { compose, get, type Harness, submitted } from '../../../support/composed-app.js';
import { pendingDelivery } from '../../../support/ended-job.js';
import { okOutcome } from '../../../support/outcomes.js';

const delivery: WebhookDeliveryState = {
  ...pendingDelivery,
  attemptsMade: 23,
  attempts: [
    { at: 2.5, durationMs: 15_000, status: null, error: 'No answer within 15 s' },
    { at: 3.5, durationMs: 12.5, status: 500, error: 'HTTP 500' },
  ],
};

function withDelivery(): Harness & { begun: string[] } {
  const begun: string[] = [];
  const redeliver = (jobId: string) => Promise.resolve(begun.push(jobId));
  const webhooks = { forJob: () => Promise.resolve([delivery]), redeliver };
  return { ...compose({}, { webhooks }), begun };
}

const callback_url = 'http://h/x';

test('each attempt is shown, the receiver is not', async () => {
  const app = withDelivery();
  const id = await submitted(app, { callback_url });
  await app.jobs.finish(id, [okOutcome()]);
  const { status, body } = await get(app, `/v1/jobs/${id}/webhook`);
  expect(status).toBe(200);
  expect(deliveryListSchema.parse(body)).toEqual(body);
  expect(body).toEqual({
    deliveries: [
      {
        webhook_id: 'msg_1',
        event: 'job.completed',
        state: 'pending',
        created_at: 1.5,
        attempt_count: 23,
        attempts: [
          { at: 2.5, status: null, error: 'No answer within 15 s', duration_ms: 15_000 },
          { at: 3.5, status: 500, error: 'HTTP 500', duration_ms: 12.5 },
        ],
        next_attempt_at: 6.5,
      },
    ],
  });
});

describe('redeliver', () => {
  const again = (app: Harness, id: string) =>
    get(app, `/v1/jobs/${id}/webhook/redeliver`, {}, 'POST');

  test('makes the delivery due and shows it', async () => {
    const app = withDelivery();
    const id = await submitted(app, { callback_url });
    expect(await again(app, id)).toMatchObject({ status: 409, body: { code: 'job_not_finished' } });
    await app.jobs.finish(id, [okOutcome()]);
    expect(await again(app, id)).toMatchObject({
      status: 202,
      body: { deliveries: [{ webhook_id: 'msg_1' }] },
    });
    expect(app.begun).toEqual([id]);
  });

  test('is refused where there is nothing to send', async () => {
    const app = withDelivery();
    const id = await submitted(app);
    await app.jobs.finish(id, [okOutcome()]);
    expect(await again(app, id)).toMatchObject({ status: 422, body: { code: 'no_webhook' } });
    expect(await again(app, 'job_none')).toMatchObject({ status: 404 });
    expect(app.begun).toEqual([]);
  });
});
