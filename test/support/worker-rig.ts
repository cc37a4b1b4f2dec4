/** A service's worker gate behind a real server on loopback, and workers that dial it. */
import { Executor } from '../../src/execution/executor.js';
import { WorkerGate, type WorkerGateParts } from '../../src/execution/near/worker-gate.js';
import { ServiceLink } from '../../src/execution/far/service-link.js';
import type { FileAccess } from '../../src/execution/here/file-access.js';
import type { SessionParts } from '../../src/execution/far/worker-session.js';
import { listen, type Listening } from '../../src/http/server/listen.js';
import { composeOver } from './app-over-jobs.js';
import { HeldJobs } from './held-jobs.js';
import { until } from './eventually.js';
import { silent } from './silent-logger.js';

export const BUILD = '9.9.9';

export interface Logged {
  fields: object;
  message: string;
}

export interface WorkerRig {
  detector: Executor;
  gate: WorkerGate;
  server: Listening;
  stale(): number;
  logged: Logged[];
  close(): Promise<void>;
}

export const noFiles: FileAccess = {
  modelDigests: () => ({}),
  models: () => Promise.resolve([]),
  prepare: (name) => Promise.reject(new Error(name)),
  readImage: (path) => Promise.reject(new Error(path)),
  decodeImage: () => Promise.reject(new Error('no decoder')),
  close: () => Promise.resolve(),
};

export async function openWorkerRig(
  parts: Partial<WorkerGateParts> = {},
  files: FileAccess = noFiles,
  port = 0,
): Promise<WorkerRig> {
  const logged: Logged[] = [];
  const log = (fields: object, message: string) => {
    logged.push({ fields, message });
  };
  const detector = new Executor({
    whyNoWorker: () => 'None has joined.',
    files,
    modelDigests: files.modelDigests,
    syncQueue: 256,
  });
  const gate = new WorkerGate({
    build: BUILD,
    token: null,
    roots: [],
    executor: detector,
    logger: { debug: log, info: log, warn: log, error: log },
    ...parts,
  });
  const jobs = await HeldJobs.open();
  const server = await listen(composeOver(jobs, {}, { cluster: { gate, detector } }), {
    host: '127.0.0.1',
    port,
  });
  const close = async () => {
    await detector.close();
    gate.close();
    await files.close();
    await server.close(1_000);
    await jobs[Symbol.asyncDispose]();
  };
  return { detector, gate, server, stale: () => detector.events.stale, logged, close };
}

/** Serves `detector` to the rig; resolves once it has joined. Closing it leaves the detector open. */
export async function startWorker(
  rig: Pick<WorkerRig, 'detector' | 'server'>,
  detector: SessionParts['detector'] & { workerId: string },
  more: {
    token?: string;
    nodeId?: string;
    build?: string;
    modelDigests?: SessionParts['modelDigests'];
  } = {},
): Promise<ServiceLink> {
  const before = rig.detector.workers().length;
  const link = new ServiceLink({
    serviceUrl: rig.server.url.replace('http', 'ws'),
    token: () => more.token ?? null,
    build: more.build ?? BUILD,
    workerId: detector.workerId,
    nodeId: more.nodeId ?? 'node-1',
    roots: () => Promise.resolve([]),
    detector,
    modelDigests: more.modelDigests ?? (() => ({})),
    maxImageBytes: 1024 * 1024,
    logger: silent,
    backoffMs: 20,
  });
  void link.serve();
  await until(() => rig.detector.workers().length > before, 'the worker has joined');
  return link;
}
