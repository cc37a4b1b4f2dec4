/** The cost of the replacement of a model for its users. Synchronous callers and a job, with and without swaps. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Consistency,
  load,
  submitMany,
  take,
  TEN_STEPS,
  type Sample,
} from '../test/support/model-swaps.js';
import { call } from '../test/support/service-client.js';
import { PROJECT_ROOT, startService } from '../test/support/service-process.js';
import { summarise } from './load/percentiles.js';
import type { Measurement } from './setting.js';

/** Between two swaps, which is what swaps are compared with: other programs may slow either down. */
const QUIET_MS = 4_000;
const CALLERS = 2;
/** It outlasts the swaps. */
const JOB_IMAGES = 5_000;
const IMAGE = 'street.jpg';
const MODEL = join(PROJECT_ROOT, 'models/vehicles-v8n.onnx');

export default async function modelSwap(): Promise<Measurement[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'lattice-swap-'));
  const folder = join(scratch, 'models');
  mkdirSync(folder);
  take(folder, 'first', MODEL);
  try {
    await using service = await startService({ env: { LATTICE_MODELS_DIR: folder } });
    const { url, pid } = service;
    const consistency = new Consistency();
    const run = async (work: () => Promise<void>) => {
      const stop = new AbortController();
      const loading = load(url, CALLERS, stop.signal, consistency, { image: IMAGE });
      await work();
      stop.abort();
      return loading;
    };
    await run(() => sleep(2_000));
    const jobId = await submitMany(url, JOB_IMAGES, { image: IMAGE });
    const before = residentMb(pid);
    const swaps: [from: number, until: number][] = [];
    const all = await run(async () => {
      await sleep(QUIET_MS);
      for (const step of TEN_STEPS) {
        const from = performance.now();
        take(folder, step, MODEL);
        await call(url, '/v1/models/reload', { method: 'POST' });
        swaps.push([from, performance.now()]);
        await sleep(QUIET_MS);
      }
    });
    const isBeside = ({ at, ms }: Sample) =>
      swaps.some(([from, until]) => at < until && at + ms > from);
    const beside = all.filter(isBeside);
    const steady = all.filter((sample) => !isBeside(sample));
    await call(url, `/v1/jobs/${jobId}`, { method: 'DELETE' });
    await sleep(5_000);
    const after = residentMb(pid);
    const msOf = (samples: Sample[]) => summarise(samples.map(({ ms }) => ms));
    const [quiet, busy] = [msOf(steady), msOf(beside)];
    const wrong = consistency.faults.length + consistency.mixed.length;
    return [
      {
        what: `sync detect beside a swap, ${CALLERS} clients and a job, p99 of ${beside.length}`,
        value: busy.p99,
        unit: 'ms',
        baseline: { what: `the same without a swap, p99 of ${steady.length}`, value: quiet.p99 },
        ratio: busy.p99 / quiet.p99,
        goal: '<= 1.4',
        met: busy.p99 / quiet.p99 <= 1.4,
      },
      {
        what: 'the same, p50',
        value: busy.p50,
        unit: 'ms',
        baseline: { what: 'without a swap, p50', value: quiet.p50 },
        ratio: busy.p50 / quiet.p50,
      },
      {
        what: 'failed or mixed answers over ten replacements',
        value: wrong,
        unit: 'answers',
        goal: '0',
        met: wrong === 0,
      },
      {
        what: 'resident memory after ten replacements',
        value: after,
        unit: 'MB',
        baseline: { what: 'before', value: before },
        ratio: after / before,
      },
      {
        what: 'longest replacement, from the file to its first answers',
        value: Math.max(...swaps.map(([from, until]) => until - from)),
        unit: 'ms',
      },
    ];
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)?.[1] ?? NaN) / 1_000;
}
