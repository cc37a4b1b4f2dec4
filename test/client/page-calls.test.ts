/** The client as the live page uses it: its calls to the service's own routes. */
import { afterEach, expect, test, vi } from 'vitest';
import { ApiKeys } from '../../src/http/access/api-keys.js';
import { socketProtocols } from '../../src/client/browser-event-socket.js';
import {
  LatticeClient,
  ServiceError,
  type ClientOptions,
} from '../../src/client/lattice-client.js';
import { detectFields } from '../../src/ui/detect/detect-request.js';
import { jobRequest, type JobFields } from '../../src/ui/jobs/job-request.js';
import { keyFault } from '../../src/ui/session/key-fault.js';
import { compose, type Harness } from '../support/composed-app.js';

const KEY = 'lat_alice_0123456789abcdef';
const JPEG = Uint8Array.of(0xff, 0xd8, 0xff, 0xe0);
const FORM: JobFields = {
  paths: 'a.jpg\r\n\n b.jpg\n',
  type: 'detect_cars',
  model: '',
  view: '',
  classes: [],
  threshold: 0.4,
  priority: 7,
  metadata: '{"title": "North gate"}',
};

afterEach(() => {
  vi.unstubAllGlobals();
});

function clientOf(answer: typeof fetch, options: ClientOptions = {}): LatticeClient {
  vi.stubGlobal('fetch', answer);
  return new LatticeClient({ retry: false, ...options });
}

function clientOfApp({ app }: Harness, options?: ClientOptions): LatticeClient {
  return clientOf(
    ((url: string, init: RequestInit) => app.request(url, init)) as typeof fetch,
    options,
  );
}

const problem = async (call: Promise<unknown>) =>
  (await call.then(() => 'no refusal', (thrown: unknown) => thrown)) as ServiceError; // prettier-ignore

test('a job is submitted, listed and cancelled', async () => {
  const client = clientOfApp(compose());
  const { job_id } = await client.submit(jobRequest(FORM));
  const { jobs, counts } = await client.listPage({ limit: 100, counts: 'true' });
  expect(jobs).toMatchObject([{ job_id, image_count: 2, priority: 7, title: 'North gate' }]);
  expect(counts).toMatchObject({ pending: 1 });
  const { images, matching } = await client.images(job_id, { offset: 1, limit: 5 });
  expect([images[0]?.status, matching]).toEqual(['pending', 2]);
  expect((await client.summary(job_id)).request).toMatchObject({ priority: 7 });
  const ended = await client.cancel(job_id);
  expect(ended).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
  expect(await problem(client.cancel(job_id))).toMatchObject({
    title: 'Job has already ended',
    code: 'job_already_finished',
  });
});

test('a picture is sent as a form, a path as JSON', async () => {
  const client = clientOfApp(compose());
  const fields = detectFields({ model: '', classes: ['*'], threshold: 0.1 });
  expect((await client.detect({ image_path: 'a.jpg', ...fields })).image_path).toBe('a.jpg');
  const file = new File([JPEG], 'gate.jpg', { type: 'image/jpeg' });
  expect((await client.detectPicture(file, fields)).image_path).toBe('gate.jpg');
});

test('regions go with a path and with a picture, and views are kept by the service', async () => {
  const client = clientOfApp(compose());
  const corners: [number, number][] = [[0, 0], [1, 0.5], [0, 1]]; // prettier-ignore
  const regions = [{ name: 'a, b', polygon: corners, classes: ['car'] }];
  const file = new File([JPEG], 'gate.jpg', { type: 'image/jpeg' });
  for (const fields of [{ regions }, { view: 'north' }]) {
    if ('view' in fields) {
      const north = { name: 'north', version: 1, regions, paths: [] };
      expect(await client.putView('north', { regions })).toMatchObject(north);
      expect(await client.view('north')).toMatchObject(north);
      expect(await client.views()).toMatchObject([north]);
      await client.putView('north', { regions, paths: ['north/**'] });
      expect(await client.view('north', 1)).toMatchObject(north);
    }
    expect((await client.detect({ image_path: 'a.jpg', ...fields })).status).toBe('success');
    const sent = await client.detectPicture(file, fields);
    expect(sent.view?.version).toBe('view' in fields ? 2 : undefined);
  }
  await client.deleteView('north');
  expect(await problem(client.view('north'))).toMatchObject({ code: 'view_not_found' });
  expect(await problem(client.deleteView('north'))).toMatchObject({ code: 'view_not_found' });
});

test('a picture of the service comes as a blob, its size and path in the query', async () => {
  const asked: string[] = [];
  const client = clientOf((url) => {
    asked.push(url as string);
    return Promise.resolve(new Response(JPEG, { headers: { 'content-type': 'image/jpeg' } }));
  });
  const picture = await client.picture('a b/c.jpg', 320);
  expect([picture.type, picture.size]).toEqual(['image/jpeg', 4]);
  await client.picture('c.tif');
  expect(asked.map((url) => url.replace(/.*8000/, ''))).toEqual([
    '/v1/images/file?path=a+b%2Fc.jpg&width=320',
    '/v1/images/file?path=c.tif',
  ]);
});

test('what the page shows of the service', async () => {
  const client = clientOfApp(compose());
  const settings = await client.settings();
  expect(settings.settings.map(({ name }) => name)).toContain('LATTICE_ENV');
  await client.ready();
});

test('a refusal names the rules that were broken, and is told at once', async () => {
  const harness = compose();
  const body = jobRequest({ ...FORM, type: 'nothing' as never, priority: 11 });
  const { code, errors } = await problem(clientOfApp(harness).submit(body));
  expect(code).toBe('validation_failed');
  expect(errors.map(({ pointer }) => pointer)).toEqual(['#/job_type', '#/priority']);
  let asked = 0;
  const busy = clientOf(() => {
    asked += 1;
    const headers = { 'retry-after': '0', 'content-type': 'application/problem+json' };
    const problem = { code: 'queue_full', title: '', detail: '', status: 429 };
    return Promise.resolve(new Response(JSON.stringify(problem), { status: 429, headers }));
  });
  expect(await problem(busy.models())).toMatchObject({ code: 'queue_full' });
  expect(asked).toBe(1);
});

test('without a known key the page is told, with one it is let in', async () => {
  const harness = compose({}, { apiKeys: ApiKeys.parse(KEY) });
  let refusals = 0;
  const list = (apiKey?: string) =>
    clientOfApp(harness, { apiKey, onUnauthorized: () => (refusals += 1) }).listPage();
  expect(await problem(list())).toMatchObject({ status: 401, code: 'unauthorized' });
  await expect(list('lat_wrong_0123456789abcdef')).rejects.toThrow(ServiceError);
  expect(refusals).toBe(2);
  expect(await list(KEY)).toMatchObject({ jobs: [] });
  expect(refusals).toBe(2);
});

test.each([
  ['', 'Enter a key.'],
  ['two words', 'A key has no spaces'],
  ['schlüssel', 'A key has no spaces'],
])('%j is no key', (text, reason) => {
  expect(keyFault(text)).toContain(reason);
  expect(keyFault(KEY)).toBeNull();
});

test('a socket offers the key only where there is one', () => {
  expect(socketProtocols(null)).toEqual(['lattice']);
  expect(socketProtocols(KEY)).toEqual(['lattice', `bearer.${KEY}`]);
});

test.each([
  ['unreachable', () => Promise.reject(new TypeError('Failed to fetch'))],
  ['unexpected_answer', () => Promise.resolve(new Response('<h1>502</h1>', { status: 502 }))],
  ['unexpected_answer', () => Promise.resolve(new Response('{"jobs":[', { status: 200 }))],
])('what is no answer of the service is told as %s', async (code, answer) => {
  expect(await problem(clientOf(answer).listPage())).toMatchObject({ code });
});
