/** Who may reach a running service: refusals to start in the open, API keys over HTTP and socket. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, detect, jobsEnded, post, type Answer } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';
import { StreamConnection } from '../stream/stream-connection.js';

const KEYS = { north: 'north-gate-0123456789', south: 'south-gate-0123456789' };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

let folder: string;
let service: ServiceProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-access-'));
  const file = join(folder, 'keys.txt');
  writeFileSync(file, `# keys\n${KEYS.north} north\n${KEYS.south} south\n`);
  service = await startService({
    env: { LATTICE_ENV: 'production', LATTICE_API_KEYS_FILE: file },
  });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

describe('without keys', () => {
  test.each([
    ['production', { LATTICE_ENV: 'production' }, /ended with 2 .*\n.*LATTICE_API_KEYS_FILE/],
    ['an open address', { LATTICE_HOST: '0.0.0.0' }, /ended with 2 .*\n.*0\.0\.0\.0 is reachable/],
    [
      'an absent key file',
      { LATTICE_API_KEYS_FILE: '/absent' },
      /ended with 2 .*\n.*There is no file or folder \/absent/,
    ],
  ])('%s refuses to start and says why', async (_what, env, reason) => {
    await expect(startService({ env })).rejects.toThrow(reason);
  });

  test('production starts where it is told that this is meant', async () => {
    await using open = await startService({
      env: { LATTICE_ENV: 'production', LATTICE_INSECURE: '1' },
    });
    expect((await detect(open.url)).status).toBe(200);
  });
});

describe('with keys', () => {
  test('probes and documentation are open, everything else is 401 without a known key', async () => {
    for (const path of ['/healthz', '/livez', '/readyz', '/docs', '/openapi.json']) {
      expect((await call(service.url, path)).status, path).toBe(200);
    }
    const answers: Answer[] = [
      await call(service.url, '/v1/cluster/status'),
      await call(service.url, '/v1/jobs'),
      await call(service.url, '/metrics'),
      await detect(service.url),
      await call(service.url, '/v1/jobs', { headers: bearer('some-other-key-0123456789') }),
    ];
    for (const { status, headers, body } of answers) {
      expect({ status, code: body.code }).toEqual({ status: 401, code: 'unauthorized' });
      expect(headers.get('www-authenticate')).toBe('Bearer');
    }
    const known = await post(
      service.url,
      '/v1/inference/detect',
      { image_path: 'shapes.png' },
      { 'x-api-key': KEYS.north },
    );
    expect(known.status).toBe(200);
  });

  test('a job is seen by its own key only', async () => {
    const body = { job_type: 'detect_cars', image_paths: ['shapes.png'] };
    const { body: job } = await post(service.url, '/v1/jobs/submit', body, bearer(KEYS.north));
    const ask = (key: string, path: string, method = 'GET') =>
      call(service.url, path, { method, headers: bearer(key) });
    for (const [path, method] of [
      [`/v1/jobs/${job.job_id}/status`, 'GET'],
      [`/v1/jobs/${job.job_id}/result`, 'GET'],
      [`/v1/jobs/${job.job_id}`, 'DELETE'],
    ] as const) {
      const answer = await ask(KEYS.south, path, method);
      expect(answer).toMatchObject({ status: 404, body: { code: 'job_not_found' } });
    }
    expect((await ask(KEYS.south, '/v1/jobs')).body.jobs).toEqual([]);
    expect((await ask(KEYS.north, '/v1/jobs')).body.jobs).toHaveLength(1);
    expect((await ask(KEYS.north, `/v1/jobs/${job.job_id}/status`)).status).toBe(200);
  });

  test('a drawn copy is seen by the key of its request or job only', async () => {
    const north = bearer(KEYS.north);
    const picture = { image_path: 'shapes.png', annotate: true };
    const sync = await post(service.url, '/v1/inference/detect', picture, north);
    const body = { job_type: 'batch_detect', image_paths: ['shapes.png'], annotate: true };
    const { body: job } = await post(service.url, '/v1/jobs/submit', body, north);
    await jobsEnded(service.url, north);
    const { body: of } = await call(service.url, `/v1/jobs/${job.job_id}/result`, {
      headers: north,
    });
    for (const url of [sync.body.annotated_url, of.result.annotated_url]) {
      expect((await call(service.url, url, { headers: north })).status).toBe(200);
      expect(await call(service.url, url, { headers: bearer(KEYS.south) })).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
    }
    await call(service.url, `/v1/jobs/${job.job_id}`, { method: 'DELETE', headers: north });
  });

  test('the same Idempotency-Key of two keys makes two jobs', async () => {
    const body = { job_type: 'detect_cars', image_paths: ['shapes.png'] };
    const ids: unknown[] = [];
    for (const key of [KEYS.north, KEYS.south, KEYS.north]) {
      const headers = { ...bearer(key), 'idempotency-key': 'same' };
      ids.push((await post(service.url, '/v1/jobs/submit', body, headers)).body.job_id);
    }
    expect(ids[0]).toBe(ids[2]);
    expect(ids[0]).not.toBe(ids[1]);
  });

  test('a socket opens with a key in a header or a sub-protocol, and hears of its own jobs only', async () => {
    await jobsEnded(service.url, bearer(KEYS.north));
    const north = await StreamConnection.open(service.url, {}, ['lattice', `bearer.${KEYS.north}`]);
    const south = await StreamConnection.open(service.url, { headers: bearer(KEYS.south) });
    expect(north.socket.protocol).toBe('lattice');
    const payload = { job_type: 'detect_cars', image_paths: ['shapes.png'] };
    north.send({ action: 'submit', payload });
    const messages = await north.take(2);
    expect(messages.map((message) => message.event)).toEqual(['job_submitted', 'job_completed']);
    const heard = (await south.settled()).map((message) => message.job_id);
    expect(heard).not.toContain(messages[0]!.job_id);
    south.messages.length = 0;
    south.send({ action: 'subscribe', after_seq: 0, job_ids: [messages[0]!.job_id] });
    await south.settled();
    // A replay may end after the answer to a ping.
    await sleep(200);
    const answers = (await south.settled()).filter((message) => message.event !== 'subscribed');
    expect(answers.map((message) => message.job_id)).not.toContain(messages[0]!.job_id);
    north.socket.close();
    south.socket.close();
  });

  test('a socket without a known key is closed with 4401', async () => {
    for (const headers of [{}, bearer('some-other-key-0123456789')]) {
      const connection = await StreamConnection.open(service.url, { headers });
      expect((await connection.closed).code).toBe(4401);
    }
  });
});

test('keys are not written to the log', () => {
  for (const key of Object.values(KEYS)) expect(service.output()).not.toContain(key);
});
