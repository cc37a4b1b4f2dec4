/** A composed app over a scripted detector and given jobs; benches use it too, so nothing here is of a test runner. */
import { tmpdir } from 'node:os';
import { ModelAliases, type AliasStore } from '../../src/aliases/model-aliases.js';
import { ShadowRuns } from '../../src/aliases/shadow-runs.js';
import { nameNotFound } from '../../src/store/named-versions.js';
import { MachineStatus } from '../../src/clusters/machine-status.js';
import { composeApp, type AppDeps, type ComposedApp } from '../../src/service/compose-app.js';
import { loadConfig, type Config } from '../../src/settings/config.js';
import type { HttpObservation } from '../../src/http/app-deps.js';
import { watchNotFound } from '../../src/store/watched.js';
import type { HeldJobs } from './held-jobs.js';
import { ScriptedDetector } from './scripted-detector.js';
import { silent } from './silent-logger.js';

export const ROOT = '/srv/images';

/** test/service makes some. */
const notFound = (name: string) => Promise.reject(nameNotFound('alias', name));
const NO_ALIASES: AliasStore = {
  aliasVersion: notFound,
  putAlias: notFound,
  aliasBefore: notFound,
  rollBackAlias: notFound,
  deleteAlias: notFound,
};
const aliases = new ModelAliases(NO_ALIASES, new ScriptedDetector(), []);

/** Every drawn copy is the same. */
export const DRAWN: AppDeps['annotator'] = {
  read: (file) => Promise.resolve(file === 'a1.jpg' ? Buffer.from([255, 216]) : null),
  annotate: () => Promise.resolve('a1.jpg'),
  pictures: () => Promise.resolve([Buffer.from([255, 216])]),
};

export interface Harness extends ComposedApp {
  jobs: HeldJobs;
  detector: ScriptedDetector;
  deps: AppDeps;
  observed: HttpObservation[];
  /** Warnings and errors. */
  logged: { fields: object; message: string }[];
  state: { draining: boolean; streamClients: number };
}

export function composeOver(
  jobs: HeldJobs,
  config: Partial<Config> = {},
  overrides: Partial<AppDeps> = {},
): Harness {
  const detector = new ScriptedDetector();
  const observed: HttpObservation[] = [];
  const logged: Harness['logged'] = [];
  const state = { draining: false, streamClients: 0 };
  const ignore = () => undefined;
  const log = (fields: object, message: string): void => {
    logged.push({ fields, message });
  };
  const logger = { ...silent, warn: log, error: log };
  const deps: AppDeps = {
    config: { ...loadConfig({}, {}), imageRoots: [ROOT, tmpdir()], ...config },
    version: '1.2.3',
    jobs: jobs.service,
    uploads: jobs.parts.uploads,
    views: jobs.parts.views,
    watches: {
      list: () => Promise.resolve([]),
      get: (name) => Promise.reject(watchNotFound(name)),
      add: (name) => Promise.reject(watchNotFound(name)),
      change: (name) => Promise.reject(watchNotFound(name)),
      remove: (name) => Promise.reject(watchNotFound(name)),
      cameras: (name) => Promise.reject(watchNotFound(name)),
      changeFinding: (name) => Promise.reject(watchNotFound(name)),
    },
    jobsHealth: () => Promise.resolve(null),
    detector,
    aliases,
    shadows: new ShadowRuns({
      detector,
      find: (name) => aliases.find(name),
      logger,
      onPicture: ignore,
    }),
    cluster: { gate: null, detector: { workers: () => [], modelDigests: () => ({}) } },
    clusterStatus: new MachineStatus({
      detector,
      jobs: jobs.service,
      version: '1.2.3',
      threads: 1,
    }),
    serviceState: () => ({ state: 'free', reasons: [], cpuWaitRatio: 0 }),
    metrics: {
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      render: () => Promise.resolve('up 1\n'),
      observeRequest: (request) => observed.push(request),
      setStreamClients: (count) => {
        state.streamClients = count;
      },
    },
    tracing: null,
    logger,
    apiKeys: null,
    keyUse: () => Promise.resolve([]),
    draining: () => state.draining,
    annotator: DRAWN,
    webhooks: { forJob: () => Promise.resolve([]), redeliver: () => Promise.resolve(0) },
    ...overrides,
  };
  return { ...composeApp(deps), jobs, detector, deps, observed, logged, state };
}
