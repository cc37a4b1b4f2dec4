/** A request is found by its id in the answer, the log, the job and the webhook; by its trace in the same places. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { call, FEW_THREADS, statusOf } from '../support/service-client.js';
import { PROJECT_ROOT, startService, type ServiceProcess } from '../support/service-process.js';
import { answerWith, startReceiver } from '../webhooks/receiver.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`;
const json = { 'content-type': 'application/json' };

let service: ServiceProcess;

beforeAll(async () => {
  service = await startService({ env: { ...FEW_THREADS, LATTICE_LOG_LEVEL: 'info' } });
});

afterAll(() => service[Symbol.asyncDispose]());

type Line = Record<string, unknown>;

const linesOf = (running: ServiceProcess, msg: string): Line[] =>
  running
    .stdout()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line.msg === msg);

async function lineOf(requestId: string, running = service): Promise<Line> {
  let found: Line | undefined;
  await eventually(() => {
    found = linesOf(running, 'request').find((line) => line.request_id === requestId);
    expect(found).toBeDefined();
  });
  return found!;
}

const post = (path: string, id: string, body: object, headers: Record<string, string> = {}) =>
  fetch(service.url + path, {
    method: 'POST',
    headers: { ...json, 'x-request-id': id, ...headers },
    body: JSON.stringify(body),
  });

test('an answer, its log line and its trace', async () => {
  const answer = await post(
    '/v1/inference/detect',
    'one',
    { image_path: 'shapes.png' },
    { traceparent },
  );
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-request-id')).toBe('one');
  expect(answer.headers.get('traceparent')).toMatch(
    new RegExp(`^00-${TRACE}-(?!00f067)\\w{16}-01$`),
  );
  expect(await lineOf('one')).toMatchObject({
    level: 'info',
    trace_id: TRACE,
    method: 'POST',
    route: '/v1/inference/detect',
    status: 200,
    model: 'yolov8n.pt',
    ms: expect.any(Number) as number,
  });
});

test('a refused and a late request are logged with their codes', async () => {
  await post('/v1/inference/detect', 'absent', { image_path: 'absent.png' });
  expect(await lineOf('absent')).toMatchObject({ status: 422, code: 'image_not_found' });
  await post('/v1/inference/detect', 'late', { image_path: 'shapes.png', deadline_ms: 1 });
  expect(await lineOf('late')).toMatchObject({ status: 504, code: 'deadline_exceeded' });
  await post('/v1/nothing', 'nowhere', {});
  expect(await lineOf('nowhere')).toMatchObject({ status: 404, route: 'unmatched' });
});

test('a job leads from its request to its end and to its webhook', async () => {
  await using receiver = await startReceiver(answerWith(204));
  const submission = {
    job_type: 'batch_detect',
    image_paths: ['shapes.png'],
    callback_url: receiver.url,
  };
  const answer = await post('/v1/jobs/submit', 'of-a-job', submission, { traceparent });
  const { job_id: id } = (await answer.json()) as { job_id: string };
  expect(await lineOf('of-a-job')).toMatchObject({ status: 202, job_id: id, trace_id: TRACE });
  await eventually(() => {
    expect(linesOf(service, 'job ended')).toContainEqual(
      expect.objectContaining({ job_id: id, status: 'completed', failed_images: 0 }),
    );
    expect(receiver.received).toHaveLength(1);
  });
  const [webhook] = receiver.received;
  expect(webhook!.headers['x-request-id']).toBe('of-a-job');
  expect(webhook!.headers.traceparent).toBe(answer.headers.get('traceparent'));
  expect(await statusOf(service.url, id)).toMatchObject({ request_id: 'of-a-job' });

  const again = await post(`/v1/jobs/${id}/retry?images=all`, 'of-a-retry', {});
  const { job_id: retry } = (await again.json()) as { job_id: string };
  expect(await lineOf('of-a-retry')).toMatchObject({ job_id: retry });
  expect(await statusOf(service.url, retry)).toMatchObject({ request_id: 'of-a-retry' });
});

test("a call of a camera's program is logged with its model, a failed one with its code", async () => {
  await using cameras = await startService({
    env: { ...FEW_THREADS, LATTICE_LOG_LEVEL: 'info', LATTICE_COMPAT: 'deepstack' },
  });
  const send = (id: string, path: string, picture: Buffer<ArrayBuffer>) => {
    const body = new FormData();
    body.set('image', new Blob([picture]), 'image');
    const headers = { 'x-request-id': id };
    return fetch(`${cameras.url}/v1/vision/${path}`, { method: 'POST', headers, body });
  };
  const street = readFileSync(join(PROJECT_ROOT, 'models/demo/street.jpg'));
  await send('seen', 'detection', street);
  expect(await lineOf('seen', cameras)).toMatchObject({ status: 200, model: 'yolov8n.pt' });
  await send('broken', 'detection', Buffer.from('no picture'));
  expect(await lineOf('broken', cameras)).toMatchObject({
    status: 400,
    code: 'unsupported_image_format',
    model: 'yolov8n.pt',
  });
  await send('absent', 'custom/absent', street);
  expect(await lineOf('absent', cameras)).toMatchObject({
    status: 404,
    code: 'unknown_model',
    model: 'absent.pt',
  });
});

test('probes are not logged, and with a share of 0 only what fails', async () => {
  await using quiet = await startService({
    env: { ...FEW_THREADS, LATTICE_LOG_LEVEL: 'info', LATTICE_REQUEST_LOG: '0' },
  });
  for (const path of ['/healthz', '/v1/models', '/metrics']) await call(quiet.url, path);
  await call(quiet.url, '/v1/jobs/job_none/status');
  await eventually(() => {
    expect(linesOf(quiet, 'request')).toMatchObject([
      { code: 'job_not_found', job_id: 'job_none' },
    ]);
  });
  await call(service.url, '/healthz', { headers: { 'x-request-id': 'probe' } });
  await call(service.url, '/v1/models', { headers: { 'x-request-id': 'after' } });
  await lineOf('after');
  expect(linesOf(service, 'request').map((line) => line.request_id)).not.toContain('probe');
});
