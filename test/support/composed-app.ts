/** A composed app over a scripted detector, and short calls to it. */
import { tmpdir } from 'node:os';
import { afterAll } from 'vitest';
import { ModelAliases, type AliasStore } from '../../src/aliases/model-aliases.js';
import { ShadowRuns } from '../../src/aliases/shadow-runs.js';
import { aliasNotFound } from '../../src/api/model-alias.js';
import { MachineStatus } from '../../src/clusters/machine-status.js';
import { composeApp, type AppDeps, type ComposedApp } from '../../src/service/compose-app.js';
import { loadConfig, type Config } from '../../src/settings/config.js';
import type { HttpObservation } from '../../src/http/app-deps.js';
import { watchNotFound } from '../../src/jobs/watched.js';
import { silent } from '../jobs/job-folder.js';
import { HeldJobs } from './held-jobs.js';
import { ScriptedDetector } from './scripted-detector.js';

export const ROOT = '/srv/images';

export interface Harness extends ComposedApp {
  jobs: HeldJobs;
  detector: ScriptedDetector;
  deps: AppDeps;
  observed: HttpObservation[];
  /** Warnings and errors. */
  logged: { fields: object; message: string }[];
  state: { draining: boolean; streamClients: number };
}

export interface Answer {
  status: number;
  headers: Headers;
  // The tests look at fields of many shapes; each names what it expects.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

/** Of all apps of a test file that have no jobs of their own. */
const sharedJobs = await HeldJobs.open();
/** test/service makes some. */
const notFound = (name: string) => Promise.reject(aliasNotFound(name));
const NO_ALIASES: AliasStore = {
  aliases: () => Promise.resolve([]),
  aliasVersion: notFound,
  putAlias: notFound,
  aliasBefore: notFound,
  rollBackAlias: notFound,
  deleteAlias: notFound,
};
const aliases = await ModelAliases.open(NO_ALIASES, new ScriptedDetector());
afterAll(() => sharedJobs[Symbol.asyncDispose]());

export function compose(
  config: Partial<Config> = {},
  overrides: Partial<AppDeps> = {},
  jobs = sharedJobs,
): Harness {
  const detector = new ScriptedDetector();
  const observed: HttpObservation[] = [];
  const logged: Harness['logged'] = [];
  const state = { draining: false, streamClients: 0 };
  const ignore = () => undefined;
  const log = (fields: object, message: string): void => {
    logged.push({ fields, message });
  };
  const deps: AppDeps = {
    config: { ...loadConfig({}, {}), imageRoots: [ROOT, tmpdir()], ...config },
    version: '1.2.3',
    jobs: jobs.service,
    watches: {
      list: () => Promise.resolve([]),
      get: (name) => Promise.reject(watchNotFound(name)),
      add: (name) => Promise.reject(watchNotFound(name)),
      change: (name) => Promise.reject(watchNotFound(name)),
      remove: (name) => Promise.reject(watchNotFound(name)),
    },
    jobsHealth: () => Promise.resolve(null),
    detector,
    aliases,
    shadows: new ShadowRuns({ detector, logger: silent, onPicture: ignore }),
    cluster: new MachineStatus({ detector, jobs: jobs.service, version: '1.2.3', threads: 1 }),
    workers: () => [],
    modelDigests: () => ({}),
    leftOutWorkers: () => [],
    gate: null,
    metrics: {
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      render: () => Promise.resolve('up 1\n'),
      observeRequest: (request) => observed.push(request),
      setStreamClients: (count) => {
        state.streamClients = count;
      },
    },
    tracing: null,
    logger: { debug: ignore, info: ignore, warn: log, error: log },
    apiKeys: null,
    draining: () => state.draining,
    readAnnotated: (file) => Promise.resolve(file === 'a1.jpg' ? Buffer.from([255, 216]) : null),
    annotate: () => Promise.resolve('a1.jpg'),
    draw: () => Promise.resolve(Buffer.from([255, 216])),
    webhooks: { forJob: () => Promise.resolve([]), redeliver: () => Promise.resolve(0) },
    ...overrides,
  };
  return { ...composeApp(deps), jobs, detector, deps, observed, logged, state };
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
