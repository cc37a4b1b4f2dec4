/** The page's calls to the service's own routes. */
import { beforeEach, expect, test } from 'vitest';
import { ApiKeys } from '../../../src/http/access/api-keys.js';
import { ServiceError } from '../../../src/client/service-error.js';
import { Api } from '../../../src/ui/session/api.js';
import { socketProtocols } from '../../../src/client/page-socket.js';
import { keyFault } from '../../../src/ui/session/key-fault.js';
import { detectBody } from '../../../src/ui/detect/detect-request.js';
import { jobRequest } from '../../../src/ui/jobs/job-request.js';
import type {
  DetectResponse,
  JobStatus,
  JobAccepted,
  JobList,
} from '../../../src/client/records.js';
import { compose, type Harness } from '../../support/composed-app.js';

const KEY = 'lat_alice_0123456789abcdef';
const JPEG = Uint8Array.of(0xff, 0xd8, 0xff, 0xe0);
let key: string | null;
let refusals: number;

beforeEach(() => {
  key = null;
  refusals = 0;
});

function apiOf({ app }: Harness): Api {
  const answer = ((path: string, init: RequestInit) => app.request(path, init)) as typeof fetch;
  return new Api({ fetch: answer, key: () => key, onUnauthorized: () => (refusals += 1) });
}

const problem = async (call: Promise<unknown>) =>
  (await call.then(() => 'no refusal', (thrown: unknown) => thrown)) as ServiceError; // prettier-ignore

test('a job is submitted, listed and cancelled', async () => {
  const api = apiOf(compose());
  const fields = {
    paths: 'a.jpg\r\n\n b.jpg\n',
    type: 'detect_cars',
    model: '',
    classes: [],
    threshold: 0.4,
    priority: 7,
    metadata: '{"title": "North gate"}',
    callback: '',
    annotate: false,
  };
  const { job_id } = await api.post<JobAccepted>('/v1/jobs/submit', jobRequest(fields));
  const { jobs } = await api.get<JobList>('/v1/jobs?limit=100');
  expect(jobs).toMatchObject([{ job_id, image_count: 2, priority: 7, title: 'North gate' }]);
  const ended = await api.delete<JobStatus>(`/v1/jobs/${job_id}`);
  expect(ended).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
  expect(await problem(api.delete(`/v1/jobs/${job_id}`))).toMatchObject({
    title: 'Job has already ended',
    code: 'job_already_finished',
  });
});

test('a picture of the service comes as a blob', async () => {
  const api = apiOf(compose());
  const picture = await api.picture('/v1/annotated/a1.jpg');
  expect([picture.type, picture.size]).toEqual(['image/jpeg', 2]);
});

test('a picture is sent as a form, a path as JSON', async () => {
  const harness = compose();
  const api = apiOf(harness);
  const choice = { model: '', classes: ['*'], threshold: 0.1 };
  const named = detectBody({ kind: 'path', path: 'a.jpg' }, choice);
  const answer = await api.post<DetectResponse>('/v1/inference/detect', named);
  expect(answer.image_path).toBe('a.jpg');
  const file = new File([JPEG], 'gate.jpg', { type: 'image/jpeg' });
  const sent = await api.post<DetectResponse>('/v1/inference/detect', detectBody({ kind: 'file', file }, choice)); // prettier-ignore
  expect(sent.image_path).toBe('gate.jpg');
});

test('a refusal names the rules that were broken', async () => {
  const api = apiOf(compose());
  const body = jobRequest({
    paths: '../x',
    type: 'nothing',
    model: '',
    classes: [],
    threshold: 0.4,
    priority: 11,
    metadata: '',
    callback: '',
    annotate: false,
  });
  const { code, errors } = await problem(api.post('/v1/jobs/submit', body));
  expect(code).toBe('validation_failed');
  expect(errors.map(({ pointer }) => pointer)).toEqual(['#/job_type', '#/priority']);
});

test('without a known key the page is told, with one it is let in', async () => {
  const api = apiOf(compose({}, { apiKeys: ApiKeys.parse(KEY) }));
  expect(await problem(api.get('/v1/jobs'))).toMatchObject({ status: 401, code: 'unauthorized' });
  key = 'lat_wrong_0123456789abcdef';
  await expect(api.get('/v1/jobs')).rejects.toThrow(ServiceError);
  expect(refusals).toBe(2);
  key = KEY;
  expect(await api.get('/v1/jobs')).toMatchObject({ jobs: [] });
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
  const api = new Api({ fetch: answer, key: () => null, onUnauthorized: () => undefined });
  expect(await problem(api.get('/v1/jobs'))).toMatchObject({ code });
});
