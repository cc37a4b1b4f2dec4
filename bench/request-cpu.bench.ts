/**
 * How much CPU time of the service's main thread does a synchronous request take? The network is the smallest one, and
 * the log has its line per request. `REQUEST_CPU_BASELINE` is the folder of another checkout, built: its service is
 * measured in turn with this one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import {
  PROJECT_ROOT,
  startService,
  type ServiceProcess,
} from '../test/support/service-process.js';
import { HttpClient } from './load/http-client.js';
import { closedLoopFor, openLoopFor } from './load/loops.js';
import { mainThreadMs } from './load/main-thread.js';
import { median } from './load/percentiles.js';
import type { Measurement } from './setting.js';

const PER_SECOND = 200;
const ROUNDS = 8;
const SECONDS = 1;
/** Without it the compiler of JavaScript is in the figures. */
const WARM_UP_SECONDS = 6;

export default async function requestCpu(): Promise<Measurement[]> {
  const baseline = process.env.REQUEST_CPU_BASELINE;
  await using own = await measured(PROJECT_ROOT);
  await using other = baseline === undefined ? null : await measured(baseline);
  for (let round = 0; round < ROUNDS; round += 1) {
    await own.burst();
    await other?.burst();
  }
  const before = other && { loaded: median(other.loaded), idle: median(other.idle) };
  return [
    row(
      `CPU of the main thread per request at ${PER_SECOND}/s`,
      'ms',
      median(own.loaded),
      before?.loaded,
    ),
    row('CPU of the main thread at rest, per second', 'ms', median(own.idle), before?.idle),
  ];
}

function row(what: string, unit: string, value: number, before: number | undefined): Measurement {
  if (before === undefined) return { what, value, unit };
  return {
    what,
    value,
    unit,
    baseline: { what: 'other build', value: before },
    ratio: value / before,
  };
}

/** A service that has answered many requests. */
async function measured(project: string) {
  const service = await startService({
    project,
    env: {
      LATTICE_MODELS_DIR: join(PROJECT_ROOT, 'models/tiny'),
      LATTICE_DEFAULT_MODEL: 'tiny-v8',
      LATTICE_IMAGE_ROOTS: join(PROJECT_ROOT, 'models/demo'),
      LATTICE_LOG_LEVEL: 'info',
    },
  });
  const client = new HttpClient(service.url, 8);
  const detect = () => client.detect('shapes.png');
  await closedLoopFor(WARM_UP_SECONDS, 4, detect);
  const loaded: number[] = [];
  const idle: number[] = [];
  return {
    loaded,
    idle,
    burst: async () => {
      const { ms, result } = await spent(service, () => openLoopFor(SECONDS, PER_SECOND, detect));
      if (result.failures > 0) throw new Error(`${result.failures} requests failed`);
      loaded.push(ms / result.latencies.length);
      idle.push((await spent(service, () => sleep(1_000))).ms);
    },
    async [Symbol.asyncDispose]() {
      client.close();
      await service[Symbol.asyncDispose]();
    },
  };
}

async function spent<T>({ pid }: ServiceProcess, work: () => Promise<T>) {
  const before = mainThreadMs(pid);
  const result = await work();
  return { ms: mainThreadMs(pid) - before, result };
}
