/** A composed app over a scripted detector, and short calls to it. */
import type { AppDeps, ComposedApp } from '../../src/service/compose-app.js';
import type { Config } from '../../src/settings/config.js';
import { composeOver, DRAWN, ROOT, type Harness } from './app-over-jobs.js';
import { HeldJobs } from './held-jobs.js';

export { DRAWN, ROOT, type Harness };

export interface Answer {
  status: number;
  headers: Headers;
  // The tests look at fields of many shapes; each names what it expects.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

/** Jobs of all apps of a process that have none of their own: the process may run several test files. */
const sharedJobs = await HeldJobs.open();
// vitest ends its processes by this signal.
process.once('SIGTERM', () => {
  sharedJobs.removeFolder();
  process.exit();
});

export function compose(
  config: Partial<Config> = {},
  overrides: Partial<AppDeps> = {},
  jobs = sharedJobs,
): Harness {
  return composeOver(jobs, config, overrides);
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = (response.headers.get('content-type') ?? '').includes('json');
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== '' ? JSON.parse(text) : text,
  };
}

export async function get(
  { app }: ComposedApp,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Answer> {
  return read(await app.request(path, { method, headers }));
}

/** Id of a job of the image `a.jpg` unless `fields` name others. */
export async function submitted(
  app: Harness,
  fields: object = {},
  headers: Record<string, string> = {},
): Promise<string> {
  const job = { job_type: 'batch_detect', image_paths: ['a.jpg'], ...fields };
  return (await post(app, '/v1/jobs/submit', job, headers)).body.job_id as string;
}

/** `body` is sent as it is when it is text, else as JSON. */
export async function post(
  { app }: ComposedApp,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return read(
    await app.request(path, {
      method,
      headers: {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(text)),
        ...headers,
      },
      body: text,
    }),
  );
}
