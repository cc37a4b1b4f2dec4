/** How long does a synchronous caller wait on a machine that is 80 % busy with jobs? Alone and loaded take turns. */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { openLoopFor } from '../../load/loops.js';
import { median, summarise, type Latency } from '../../load/percentiles.js';
import { against, type Answer } from '../answer.js';
import type { Chart } from '../chart.js';
import { mainModel, type Plan } from '../plan.js';
import {
  imagesPerSecond,
  loadWhole,
  noise,
  openRig,
  pixelTask,
  stretchOf,
  type Rig,
} from '../rig.js';
import type { NativeModel } from '../../../src/native/contract.js';
import { openBatchTimer, type TimeBatch } from '../batch-times.js';

const LOAD = 0.8;
const SYNC_SHARE = 0.1;
const MOST_SYNC = 500;
const SYNC_CAP = 8;
const LARGEST = 32;
/** Seconds that a slow machine's round is stretched to, for a few arrivals. */
const MOST_PATIENCE = 1;
const SMALL = noise(160, 120);
const GOAL = { atMost: 1.3 };

export default async function mixedLoad(plan: Plan): Promise<Answer> {
  await using rig = openRig(plan);
  const { core } = rig;
  const planned = mainModel(plan);
  const model = await loadWhole(core, planned.file);
  await using timer = openBatchTimer(plan, core, model, planned.file);
  const peaks: number[] = [];
  for (let round = 0; round < 2; round += 1) {
    peaks.push(await imagesPerSecond(core, stretchOf(plan.effort), () => job(model)));
  }
  const peak = median(peaks);
  const syncRate = Math.min(MOST_SYNC, peak * SYNC_SHARE);
  const asyncRate = peak * LOAD - syncRate;
  const send = () => core.run(pixelTask(model, 'sync'));
  const seconds = Math.max(plan.effort.seconds, Math.min(MOST_PATIENCE, 4 / syncRate));
  const alone: number[] = [];
  const loaded: number[] = [];
  const bounds: number[] = [];
  const reached: number[] = [];
  for (let round = 0; round < plan.effort.rounds; round += 1) {
    alone.push(...(await arrivals(syncRate, seconds, send)));
    bounds.push(await bound(plan, rig, model, timer.time));
    const jobs = startPaced(asyncRate, () => core.run(job(model)));
    await sleep(200);
    loaded.push(...(await arrivals(syncRate, seconds, send)));
    reached.push(await jobs.stop());
  }
  const [idle, busy] = [summarise(alone), summarise(loaded)];
  return {
    title: `Sync latency beside jobs, ${planned.name}`,
    figures: [
      { what: `${planned.name}, peak from pixels`, value: peak, unit: 'images/s' },
      // Below 1 JavaScript could not send as much, and the load is lower than the figures below say.
      against(
        { what: 'jobs beside sync requests', value: median(reached), unit: 'images/s' },
        { what: `${100 * LOAD} % of the peak, less the sync requests`, value: asyncRate },
      ),
      { what: `sync alone, ${syncRate.toFixed(1)}/s, p99`, value: idle.p99, unit: 'ms' },
      against(
        { what: 'sync at 80 % load, p50', value: busy.p50, unit: 'ms' },
        { what: 'sync alone, p50', value: idle.p50 },
      ),
      against(
        { what: 'sync at 80 % load, p99', value: busy.p99, unit: 'ms' },
        { what: 'sync alone, p99', value: idle.p99 },
      ),
      against(
        { what: 'sync at 80 % load, p99, against its bound', value: busy.p99, unit: 'ms' },
        { what: 'engine at the sync cap + one async batch', value: median(bounds) },
        GOAL,
      ),
    ],
    notes: [
      `${idle.count} sync requests alone, ${busy.count} beside jobs; open loop, from pixels of 640 x 480.`,
      'Jobs are of 160 x 120, so that their copies on the JavaScript thread, which requests by path do not make, delay no request.',
    ],
    charts: [sideBySide(`Sync latency beside jobs, ${planned.name}`, idle, busy)],
  };
}

const job = (model: NativeModel) => pixelTask(model, 'async', SMALL);

function sideBySide(title: string, idle: Latency, busy: Latency): Chart {
  return {
    name: 'mixed-load',
    title,
    unit: 'ms',
    kind: 'bars',
    categories: ['p50', 'p99'],
    series: [
      { name: 'sync alone', values: [idle.p50, idle.p99] },
      { name: 'sync at 80 % load', values: [busy.p50, busy.p99] },
    ],
  };
}

/** Latencies of an open loop, at least one: its gaps are drawn and may all be long. */
async function arrivals(rate: number, seconds: number, send: () => Promise<unknown>) {
  const { latencies } = await openLoopFor(seconds, rate, send);
  if (latencies.length > 0) return latencies;
  const start = performance.now();
  await send();
  return [performance.now() - start];
}

/** Milliseconds: what a sync request may have to wait for, and its own batch. */
async function bound(
  plan: Plan,
  { core }: Rig,
  model: NativeModel,
  time: TimeBatch,
): Promise<number> {
  const rounds = Math.min(plan.effort.samples, 20);
  // The batch sizes that there are engines for, as the core chooses them.
  const sync = plan.gpuBatches.filter((batch) => batch <= SYNC_CAP);
  const own = await time(Math.max(plan.gpuBatches[0]!, ...sync), rounds);
  if (plan.device === 'cuda') {
    return own.networkMs + (await time(LARGEST, rounds)).wholeMs;
  }
  const { timings } = await core.run(pixelTask(model, 'async'));
  return own.networkMs + timings.inference;
}

/** `rate` calls of `send` per second, evenly, until stopped; `stop` waits for the answers and gives their rate. */
function startPaced(rate: number, send: () => Promise<unknown>): { stop(): Promise<number> } {
  const air = new Set<Promise<unknown>>();
  const start = performance.now();
  let running = true;
  let answered = 0;
  const pace = async () => {
    for (let sent = 0; running;) {
      if (sent >= ((performance.now() - start) * rate) / 1_000) await sleep(1);
      else {
        const one = send().then(() => (answered += 1));
        air.add(one);
        void one.finally(() => air.delete(one));
        sent += 1;
        await turn();
      }
    }
  };
  const pacing = pace();
  return {
    async stop() {
      const perSecond = (answered * 1_000) / (performance.now() - start);
      running = false;
      await pacing;
      await Promise.all(air);
      return perSecond;
    },
  };
}
