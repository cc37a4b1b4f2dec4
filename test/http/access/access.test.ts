/** Authentication, ownership, origins, hosts, and what surrounds every answer. */
import { setImmediate as afterAnswer, setTimeout as sleep } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { ConfigError } from '../../../src/settings/config.js';
import { ApiKeys } from '../../../src/http/access/api-keys.js';
import { replyRaw } from '../../../src/http/answer/reply.js';
import { createAddRoute, type RouteSpec } from '../../../src/http/route.js';
import { compose, get, post } from '../../support/composed-app.js';
import { HeldJobs } from '../../support/held-jobs.js';

const ALICE = 'lat_alice_0123456789abcdef';
const BOB = 'lat_bob_0123456789abcdef';
const idOf = (key: string) => createHash('sha256').update(key).digest('hex').slice(0, 16);
const apiKeys = ApiKeys.parse(
  `# keys\n${ALICE} alice\n\nsha256:${createHash('sha256').update(BOB).digest('hex')}  bob\r\n`,
);
const as = (key: string) => ({ authorization: `Bearer ${key}` });
const job = { job_type: 'detect_cars', image_paths: ['a.jpg'] };

describe('API keys', () => {
  test('plain and hashed keys are found, others are not', () => {
    expect(apiKeys.find(ALICE)).toBe(idOf(ALICE));
    expect(apiKeys.find(BOB)).toBe(idOf(BOB));
    expect(apiKeys.find(`${ALICE}x`)).toBeNull();
    expect(apiKeys.find(`sha256:${createHash('sha256').update(BOB).digest('hex')}`)).toBeNull();
  });

  test.each([
    ['', 'no key'],
    ['# only\n', 'no key'],
    ['short', '16'],
    ['sha256:abcdef0123456789', '64'],
  ])('file %j is refused without naming the key', (text, reason) => {
    expect(() => ApiKeys.parse(text)).toThrow(ConfigError);
    expect(() => ApiKeys.parse(text)).toThrow(reason);
  });

  test('keys come from a file; one that cannot be read is a wrong setting', () => {
    const folder = mkdtempSync(join(tmpdir(), 'lattice-keys-'));
    writeFileSync(join(folder, 'keys'), `${ALICE}\n`);
    expect(ApiKeys.readFile(join(folder, 'keys')).find(ALICE)).toMatch(/^[0-9a-f]{16}$/);
    const none = () => ApiKeys.readFile(join(folder, 'none'));
    expect(none).toThrow(ConfigError);
    expect(none).toThrow(`API key file: There is no file or folder ${join(folder, 'none')}.`);
    rmSync(folder, { recursive: true });
  });

  test.each([
    [{}],
    [as('lat_wrong_0123456789abcdef')],
    [{ authorization: ALICE }],
    [{ authorization: `Basic ${ALICE}` }],
    [{ authorization: 'Bearer' }],
    [{ 'x-api-key': '' }],
  ])('%j is refused on every closed route', async (headers) => {
    const app = compose({}, { apiKeys });
    for (const path of ['/v1/jobs', '/v1/models', '/v1/cluster/status', '/metrics', '/nowhere']) {
      const answer = await get(app, path, headers);
      expect(answer).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    const detect = await post(app, '/v1/inference/detect', { image_path: 'a.jpg' }, headers);
    expect(detect.status).toBe(401);
    expect(app.detector.requests).toEqual([]);
  });

  test('probes and documentation need no key', async () => {
    const app = compose({}, { apiKeys });
    for (const path of [
      '/healthz',
      '/livez',
      '/readyz',
      '/docs',
      '/docs/start.js',
      '/openapi.json',
    ]) {
      expect(await get(app, path), path).toMatchObject({ status: 200 });
    }
  });

  test('both headers carry a key', async () => {
    const app = compose({}, { apiKeys });
    for (const headers of [as(ALICE), { 'x-api-key': BOB }, { authorization: `bearer  ${BOB}` }]) {
      expect(await get(app, '/v1/models', headers)).toMatchObject({ status: 200 });
    }
  });

  test('jobs belong to their key: every route hides the jobs of other keys', async () => {
    await using jobs = await HeldJobs.open();
    const app = compose({}, { apiKeys }, jobs);
    const { body } = await post(app, '/v1/jobs/submit', job, as(ALICE));
    const id = body.job_id as string;
    for (const [path, method] of [
      [`/v1/jobs/${id}/status`, 'GET'],
      [`/v1/jobs/${id}/result`, 'GET'],
      [`/v1/jobs/${id}`, 'DELETE'],
    ] as const) {
      expect(await get(app, path, as(BOB), method)).toMatchObject({
        status: 404,
        body: { code: 'job_not_found' },
      });
    }
    expect((await get(app, '/v1/jobs', as(BOB))).body.jobs).toEqual([]);
    expect((await get(app, '/v1/jobs', as(ALICE))).body.jobs).toHaveLength(1);
    expect(await get(app, `/v1/jobs/${id}`, as(ALICE), 'DELETE')).toMatchObject({ status: 200 });
  });

  test('an Idempotency-Key belongs to its owner', async () => {
    const app = compose({}, { apiKeys });
    const submit = (key: string) =>
      post(app, '/v1/jobs/submit', job, { ...as(key), 'idempotency-key': 'same' });
    const [alice, bob] = [await submit(ALICE), await submit(BOB)];
    expect(alice.body.job_id).not.toBe(bob.body.job_id);
  });
});

describe('unknown keys', () => {
  const wrong = as('lat_wrong_0123456789abcdef');
  const slow = () => ApiKeys.parse(`${ALICE} alice`);

  /** Whether the last of `failures` answers came before a timer of so many milliseconds. */
  async function comesWithin(ms: number, keys: ApiKeys, address: string, failures = 1) {
    for (let i = 1; i < failures; i++) void keys.owner('none', address);
    return Promise.race([keys.owner('none', address).then(() => true), sleep(ms, false)]);
  }

  test('are answered later with each failure of their address', async () => {
    const keys = slow();
    expect(await comesWithin(100, keys, '192.0.2.1', 5)).toBe(true);
    expect(await comesWithin(240, keys, '192.0.2.1')).toBe(false);
    expect(await comesWithin(490, keys, '::ffff:192.0.2.1')).toBe(false);
    expect(await comesWithin(100, keys, '192.0.2.2')).toBe(true);
  });

  test('from one IPv6 network count together', async () => {
    const keys = slow();
    for (let i = 0; i < 5; i++) await keys.owner('none', `2001:db8:0:1::${i}`);
    expect(await comesWithin(240, keys, '2001:db8:0:1::ffff')).toBe(false);
    expect(await comesWithin(100, keys, '2001:db8:0:2::1')).toBe(true);
  });

  test('do not slow valid keys of the same address or requests without a key', async () => {
    const { app } = compose({}, { apiKeys: slow() });
    const env = { incoming: { socket: { remoteAddress: '192.0.2.1' } } };
    const ask = async (headers: Record<string, string>) =>
      (await app.request('/v1/jobs', { headers }, env)).status;
    const refused = Array.from({ length: 11 }, () => ask(wrong));
    const late = refused.at(-1);
    for (let i = 0; i < 20; i++) {
      expect(await ask(as(ALICE))).toBe(200);
      expect(await ask({})).toBe(401);
    }
    expect(await Promise.race([late, Promise.resolve('waits')])).toBe('waits');
    expect(await Promise.all(refused.slice(0, 6))).toEqual(Array(6).fill(401));
  });

  test('are refused at once while 1,000 answers wait', async () => {
    const keys = slow();
    for (let i = 0; i < 1_005; i++) void keys.owner('none', '192.0.2.1');
    await expect(keys.owner('none', '192.0.2.1')).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterS: 8,
    });
    expect(await keys.owner(ALICE, '192.0.2.1')).toBe(idOf(ALICE));
  });
});

describe('browsers', () => {
  const preflight = { origin: 'https://page.example', 'access-control-request-method': 'POST' };

  test('development allows any origin, never credentials', async () => {
    const app = compose();
    const answer = await get(app, '/healthz', { origin: 'https://page.example' });
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    const asked = await get(app, '/v1/jobs/submit', preflight, 'OPTIONS');
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-methods')).toBe('POST');
    expect(asked.headers.get('access-control-allow-headers')).toContain('idempotency-key');
    expect(asked.headers.has('access-control-allow-credentials')).toBe(false);
  });

  test('an allowed page may send custom headers', async () => {
    const asked = {
      ...preflight,
      'access-control-request-headers': 'content-type,x-requested-with',
    };
    const allowed = await get(compose(), '/v1/jobs/submit', asked, 'OPTIONS');
    expect(allowed.headers.get('access-control-allow-headers')).toContain('x-requested-with');
    const closed = compose({ env: 'production', host: '0.0.0.0' });
    const refused = await get(closed, '/v1/jobs/submit', asked, 'OPTIONS');
    expect(refused.headers.has('access-control-allow-headers')).toBe(false);
  });

  test('production allows the listed origins, and preflights need no key', async () => {
    const production = { env: 'production', corsOrigins: ['https://page.example'] } as const;
    const app = compose({ ...production, corsOrigins: [...production.corsOrigins] }, { apiKeys });
    const host = { host: 'localhost:8000' };
    const listed = await get(app, '/v1/jobs', { ...host, ...preflight }, 'OPTIONS');
    expect(listed.status).toBe(204);
    expect(listed.headers.get('access-control-allow-origin')).toBe('https://page.example');
    const other = { ...host, ...preflight, origin: 'https://evil.example' };
    const refused = await get(app, '/v1/jobs', other, 'OPTIONS');
    expect(refused.headers.has('access-control-allow-origin')).toBe(false);
    expect(refused.headers.get('vary')).toBe('origin');
  });

  test('a preflight allows the methods that the path has for the page that asks', async () => {
    const app = compose({ corsOrigins: ['https://app.example'] });
    const ask = async (path: string, origin: string, method: string) => {
      const asked = { origin, 'access-control-request-method': method };
      const { status, headers } = await get(app, path, asked, 'OPTIONS');
      expect(status).toBe(204);
      const allowed = headers.get('access-control-allow-methods');
      expect(headers.has('access-control-allow-origin')).toBe(allowed !== null);
      return allowed;
    };
    const job = '/v1/jobs/some-id';
    expect(await ask(job, 'https://app.example', 'PATCH')).toBe('DELETE, PATCH');
    expect(await ask(job, 'https://page.example', 'PATCH')).toBeNull();
    const watch = '/v1/watches/gate';
    expect(await ask(watch, 'https://app.example', 'GET')).toBe('GET, HEAD, DELETE, PATCH');
    expect(await ask(watch, 'https://page.example', 'GET')).toBe('GET, HEAD');
    expect(await ask(watch, 'https://page.example', 'DELETE')).toBeNull();
  });

  test('a route is for own pages unless its row, or a text that it only reads, says otherwise', async () => {
    const app = compose();
    const route = createAddRoute(app.app);
    const answers = (type: string) => ({
      200: { description: 'An answer', content: { [type]: { schema: z.string() } } },
    });
    const add = (spec: Pick<RouteSpec, 'method' | 'path' | 'answers' | 'pages'>) => {
      route({ operationId: spec.path.slice(1), summary: 'New', ...spec }, (c) =>
        replyRaw(c, 200, 'x', {}),
      );
    };
    add({ method: 'get', path: '/text', answers: answers('text/plain') });
    add({ method: 'get', path: '/picture', answers: answers('image/webp') });
    add({ method: 'get', path: '/film', answers: answers('video/mp4') });
    add({ method: 'post', path: '/change', answers: answers('application/json') });
    add({ method: 'post', path: '/find', answers: answers('application/json'), pages: 'detects' });
    const page = { origin: 'https://page.example', 'sec-fetch-site': 'cross-site' };
    const answerOf = async (path: string, method: string) => {
      const { status, headers } = await get(app, path, page, method);
      return [
        status,
        headers.get('access-control-allow-origin'),
        headers.get('cross-origin-resource-policy'),
      ];
    };
    expect(await answerOf('/text', 'GET')).toEqual([200, '*', 'cross-origin']);
    expect(await answerOf('/find', 'POST')).toEqual([200, '*', 'cross-origin']);
    const refused = [403, null, 'same-origin'];
    expect(await answerOf('/picture', 'GET')).toEqual(refused);
    expect(await answerOf('/picture', 'HEAD')).toEqual(refused);
    expect(await answerOf('/film', 'GET')).toEqual(refused);
    expect(await answerOf('/change', 'POST')).toEqual(refused);
  });

  test.each([
    ['production', '127.0.0.1', 'evil.example', 403],
    ['production', '127.0.0.1', 'localhost:8000', 200],
    ['production', '127.0.0.1', '127.0.0.1:8000', 200],
    ['production', '127.0.0.1', '[::1]:8000', 200],
    ['production', '0.0.0.0', 'service.example', 200],
    ['production', '127.0.0.1', 'host.docker.internal:8000', 200],
    ['production', '127.0.0.2', 'evil.example', 403],
    ['development', '127.0.0.1', 'evil.example:8000', 403],
    ['development', 'localhost', 'evil.example', 403],
    ['development', '::1', 'evil.example', 403],
    ['development', '::1', '[::1]:9', 200],
    ['development', '127.0.0.1', 'localhost:5173', 200],
    ['development', '127.0.0.1', 'host.docker.internal:8000', 200],
    ['development', '0.0.0.0', 'service.example', 200],
  ] as const)('%s on %s with Host %s: %d', async (env, host, header, status) => {
    const answer = await get(compose({ env, host }), '/healthz', { host: header });
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.body.code).toBe('forbidden');
  });

  test('development: a page of any origin may submit, a page with a rebound name may not', async () => {
    const app = compose();
    const page = { origin: 'https://page.example', host: '127.0.0.1:8000' };
    expect((await post(app, '/v1/jobs/submit', job, page)).status).toBe(202);
    const rebound = { origin: 'http://evil.example:8000', host: 'evil.example:8000' };
    expect(await post(app, '/v1/jobs/submit', job, rebound)).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
    const upgrade = { ...rebound, connection: 'Upgrade', upgrade: 'websocket' };
    expect((await get(app, '/v1/stream', upgrade)).status).toBe(403);
  });

  test('the Host of a listed origin is allowed on loopback: a proxy passes it on', async () => {
    const app = compose({
      env: 'production',
      host: '127.0.0.1',
      corsOrigins: ['https://cars.example', 'http://[fd00::1]:8443'],
    });
    for (const host of ['cars.example', 'Cars.example:443', '[fd00::1]:8443']) {
      expect((await get(app, '/healthz', { host })).status).toBe(200);
    }
    const other = await get(app, '/healthz', { host: 'evil.example' });
    expect(other.status).toBe(403);
    expect(other.body.detail).toContain('LATTICE_CORS_ORIGINS');
  });

  test('a request without a Host, which no browser sends, is answered', async () => {
    const app = compose({ env: 'production', host: '127.0.0.1' });
    expect((await get(app, '/healthz')).status).toBe(200);
  });
});

describe('every answer', () => {
  test('carries the request id, given or made', async () => {
    const app = compose();
    const given = await get(app, '/healthz', { 'x-request-id': 'trace-1.2:3' });
    expect(given.headers.get('x-request-id')).toBe('trace-1.2:3');
    for (const bad of ['x'.repeat(129), 'a b', '<script>']) {
      const { headers, body } = await get(app, '/nowhere', { 'x-request-id': bad });
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      expect(body.request_id).toBe(headers.get('x-request-id'));
    }
  });

  test('forbids sniffing and framing', async () => {
    const { headers } = await get(compose(), '/v1/models');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test.each([
    ['/docs/', 200, '/docs'],
    ['/healthz/', 200, '/healthz'],
    ['/v1/jobs/', 200, '/v1/jobs'],
    ['/v1/jobs/none/status/', 404, '/v1/jobs/{job_id}/status'],
    ['/healthz//', 404, 'unmatched'],
  ])('%s is answered %d as %s', async (path, status, route) => {
    const app = compose();
    expect((await get(app, path)).status).toBe(status);
    await afterAnswer();
    expect(app.observed).toMatchObject([{ route }]);
  });

  test('a trailing slash does not change which routes need a key', async () => {
    const app = compose({}, { apiKeys });
    expect((await get(app, '/healthz/')).status).toBe(200);
    expect((await get(app, '/v1/jobs/')).status).toBe(401);
    expect((await get(app, '/v1/jobs/submit/', as(ALICE))).headers.get('allow')).toContain('POST');
    expect((await post(app, '/v1/jobs/submit/', job, as(ALICE))).status).toBe(202);
  });

  test('an unknown route is 404, a wrong method 405 with Allow', async () => {
    const app = compose();
    expect(await get(app, '/v1/nothing')).toMatchObject({
      status: 404,
      body: { code: 'not_found', type: 'urn:lattice:error:not_found' },
    });
    const wrong = await get(app, '/v1/inference/detect');
    expect(wrong).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
    expect(wrong.headers.get('allow')).toBe('POST');
    expect(wrong.headers.get('content-type')).toBe('application/problem+json');
    const job = await get(app, '/v1/jobs/abc', {}, 'PUT');
    expect(job.headers.get('allow')).toBe('DELETE, PATCH');
  });

  test.each(['/v1/jobs/submit', '/v1/jobs/submit/', '/v1/jobs/%73ubmit'])(
    '%s is no job, whatever the method',
    async (path) => {
      for (const method of ['GET', 'DELETE', 'OPTIONS']) {
        const answer = await get(compose(), path, {}, method);
        expect(answer).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
        expect(answer.headers.get('allow')).toBe('POST');
      }
    },
  );

  test('HEAD is answered like GET without a body, and Allow lists it', async () => {
    const app = compose();
    for (const path of ['/healthz', '/v1/jobs', '/v1/models', '/docs', '/openapi.json']) {
      expect(await get(app, path, {}, 'HEAD')).toMatchObject({ status: 200, body: '' });
      const wrong = await get(app, path, {}, 'PUT');
      expect([path, wrong.status, wrong.headers.get('allow')]).toEqual([path, 405, 'GET, HEAD']);
    }
    const head = await get(app, '/v1/inference/detect', {}, 'HEAD');
    expect([head.status, head.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('is observed by its route template', async () => {
    const app = compose();
    await get(app, '/v1/jobs/some-id/status');
    await get(app, '/wp-login.php');
    await post(app, '/v1/inference/detect', { image_path: 'a.jpg' });
    await afterAnswer();
    expect(app.observed.map(({ method, route, status }) => [method, route, status])).toEqual([
      ['GET', '/v1/jobs/{job_id}/status', 404],
      ['GET', 'unmatched', 404],
      ['POST', '/v1/inference/detect', 200],
    ]);
    expect(app.observed.every(({ seconds }) => seconds >= 0 && seconds < 5)).toBe(true);
  });

  test.each([[new Error('inner')], ['a string'], [undefined], [{ code: 'job_not_found' }]])(
    'a thrown %s becomes internal_error',
    async (thrown) => {
      const app = compose();
      vi.spyOn(app.jobs.service, 'list').mockRejectedValueOnce(thrown);
      const { status, body } = await get(app, '/v1/jobs');
      expect({ status, code: body.code }).toEqual({ status: 500, code: 'internal_error' });
      expect(JSON.stringify(body)).not.toContain('inner');
      expect(app.logged).toHaveLength(1);
    },
  );
});
