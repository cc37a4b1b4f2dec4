/** Webhooks of a running service: signed, retried, and delivered although the process was killed in between. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, until } from '../support/eventually.js';
import { call, resultOf, statusOf, submit } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';
import { startReceiver, type Received, type Receiver } from '../webhooks/receiver.js';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const env = { LATTICE_WEBHOOK_SECRET: SECRET };
/** Five seconds, shorter by a fifth at most. */
const LEAST_WAIT_MS = 3_900;

let service: ServiceProcess;

beforeAll(async () => {
  service = await startService({ env });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

async function arrived(receiver: Receiver, count: number): Promise<Received[]> {
  await until(() => receiver.received.length >= count, `${count} webhooks`);
  return receiver.received;
}

/** The body, once the signature is found genuine. */
function verified({ body, headers }: Received): Record<string, unknown> {
  const plain = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, String(value)]),
  );
  return new Webhook(SECRET).verify(body, plain) as Record<string, unknown>;
}

test.concurrent.each([
  ['completed', 'shapes.png'],
  ['failed', 'absent.png'],
])('a %s job is sent, signed, as its result record', async (outcome, path) => {
  await using receiver = await startReceiver((response) => response.writeHead(204).end());
  const id = await submit(service.url, {
    image_paths: [path],
    callback_url: receiver.url,
    metadata: { gate: outcome },
  });
  const [message] = await arrived(receiver, 1);
  const body = verified(message!);
  const result = await resultOf(service.url, id);
  expect(body).toEqual({ type: `job.${outcome}`, timestamp: expect.any(String), data: result });
  expect(result).toMatchObject({ job_id: id, status: outcome, metadata: { gate: outcome } });
  expect(message).toMatchObject({ method: 'POST', path: '/hook?from=test' });
  expect(() => verified({ ...message!, body: message!.body.replace(id, 'job_other') })).toThrow();
  await sleep(200);
  expect(receiver.received).toHaveLength(1);
});

test.concurrent(
  'a job of very many images is sent without them, and says where they are',
  async () => {
    await using receiver = await startReceiver((response) => response.writeHead(204).end());
    const paths = Array.from({ length: 6_000 }, (_, index) => `absent-${index}.png`);
    const id = await submit(service.url, { image_paths: paths, callback_url: receiver.url });
    const [message] = await arrived(receiver, 1);
    expect(message!.body.length).toBeLessThan(100_000);
    const { data } = verified(message!) as { data: { result: object; result_url: string } };
    expect(data).toMatchObject({ job_id: id, status: 'failed', result: { failed: 6_000 } });
    const answer = await fetch(service.url + data.result_url);
    const whole = (await answer.json()) as { result: { images: unknown[] } };
    expect(whole.result.images).toHaveLength(6_000);
    expect({ ...whole, result: { ...data.result, images: whole.result.images } }).toEqual(whole);
  },
);

test.concurrent(
  'a refused attempt is made again after five seconds, with the same id',
  async () => {
    let attempts = 0;
    await using receiver = await startReceiver((response) => {
      attempts += 1;
      response.writeHead(attempts === 1 ? 500 : 200).end();
    });
    const id = await submit(service.url, { callback_url: receiver.url });
    const [refused, taken] = await arrived(receiver, 2);
    expect(taken!.at - refused!.at).toBeGreaterThan(LEAST_WAIT_MS);
    expect(taken!.headers['webhook-id']).toBe(refused!.headers['webhook-id']);
    expect(taken!.body).toBe(refused!.body);
    expect(verified(taken!)).toMatchObject({ type: 'job.completed', data: { job_id: id } });
    await eventually(async () => {
      const { webhooks } = await statusOf(service.url, id);
      expect(webhooks).toEqual([
        {
          webhook_id: taken!.headers['webhook-id'],
          state: 'delivered',
          attempts: 2,
          created_at: expect.any(Number),
          next_attempt_at: null,
          last_status: 200,
          last_error: null,
        },
      ]);
    });
  },
);

test.concurrent('a webhook is sent again on request, and every attempt is shown', async () => {
  let attempts = 0;
  await using receiver = await startReceiver((response) => {
    attempts += 1;
    response.writeHead(attempts === 1 ? 410 : 200).end();
  });
  const id = await submit(service.url, { callback_url: receiver.url });
  const path = `/v1/jobs/${id}/webhook`;
  const delivery = async () =>
    ((await call(service.url, path)).body as unknown as { deliveries: object[] }).deliveries;
  await eventually(async () => {
    expect(await delivery()).toMatchObject([{ state: 'gave_up', attempt_count: 1 }]);
  });
  expect((await call(service.url, `${path}/redeliver`, { method: 'POST' })).status).toBe(202);
  const [first, second] = await arrived(receiver, 2);
  expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
  expect(verified(second!)).toEqual(verified(first!));
  await eventually(async () => {
    expect(await delivery()).toEqual([
      {
        webhook_id: first!.headers['webhook-id'],
        event: 'job.completed',
        state: 'delivered',
        created_at: expect.any(Number),
        attempt_count: 2,
        attempts: [
          {
            at: expect.closeTo(first!.at / 1000, 0),
            status: 410,
            error: 'HTTP 410: the receiver accepts no more webhooks',
            duration_ms: expect.any(Number),
          },
          {
            at: expect.closeTo(second!.at / 1000, 0),
            status: 200,
            error: null,
            duration_ms: expect.any(Number),
          },
        ],
        next_attempt_at: null,
      },
    ]);
  });
});

test.concurrent.each([
  ['refused', 500],
  ['not answered', null],
])('a kill after an attempt that was %s loses no delivery', async (_what, status) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'lattice-webhook-'));
  let attempts = 0;
  await using receiver = await startReceiver((response) => {
    attempts += 1;
    if (attempts > 1) response.writeHead(200).end();
    else if (status !== null) response.writeHead(status).end();
  });
  try {
    let id: string;
    {
      await using first = await startService({ env, dataDir });
      id = await submit(first.url, { callback_url: receiver.url });
      await arrived(receiver, 1);
      // Time for the outcome to reach the disk; without an answer there is none.
      await sleep(300);
      await first.kill('SIGKILL');
    }
    await using second = await startService({ env, dataDir });
    const [before, after] = await arrived(receiver, 2);
    expect(after!.headers['webhook-id']).toBe(before!.headers['webhook-id']);
    expect(verified(after!)).toMatchObject({
      type: 'job.completed',
      data: { job_id: id, status: 'completed', result: { total_count: 6 } },
    });
    expect(after!.body).toBe(before!.body);
    expect((await resultOf(second.url, id)).status).toBe('completed');
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
