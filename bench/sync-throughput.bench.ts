/** How many synchronous requests per second at 1, 8 and 32 clients, against the engine alone? */
import { mostPerSecond } from './load/alone.js';
import { HttpClient } from './load/http-client.js';
import { closedLoopFor, openLoopFor } from './load/loops.js';
import { median, summarise } from './load/percentiles.js';
import { openBareCore, photoTask, serve, setting, type Measurement } from './setting.js';

const SECONDS = 6;
/** Several clients have another network than one, which each new shape of photo prepares. */
const WARM_UP_SECONDS = 4;

export default async function syncThroughput(): Promise<Measurement[]> {
  const at = setting();
  const engine = await engineOnly();
  await using service = await serve(at);
  const client = new HttpClient(service.url, 64);
  const detect = (turn: number) => client.detect(at.photos[turn % at.photos.length]);
  const rows: Measurement[] = [];
  for (const clients of [1, 8, 32]) {
    const most = await mostPerSecond(at, 'sync', clients);
    await closedLoopFor(WARM_UP_SECONDS, clients, detect);
    const load = await closedLoopFor(SECONDS, clients, detect);
    if (load.failures > 0) throw new Error(`${load.failures} requests failed`);
    rows.push({
      what: `sync requests, ${clients} client${clients === 1 ? '' : 's'} (p99 ${summarise(load.latencies).p99.toFixed(1)} ms)`,
      value: load.perSecond,
      unit: 'req/s',
      baseline: { what: 'engine alone', value: engine },
      ratio: load.perSecond / engine,
      bound: { what: 'decode + network', value: most },
    });
  }
  const rate = engine * 0.5;
  const open = await openLoopFor(SECONDS, rate, detect);
  client.close();
  const latency = summarise(open.latencies);
  rows.push({
    what: `sync detect, open loop at half the engine's rate (${rate.toFixed(0)}/s), p50 / p99 ${latency.p99.toFixed(1)}`,
    value: latency.p50,
    unit: 'ms',
  });
  return rows;
}

/** Images per second of the network alone: single batches without decoding. */
export async function engineOnly(): Promise<number> {
  const at = setting();
  const { core, model } = await openBareCore(at);
  const inference: number[] = [];
  for (let round = 0; round < 80; round += 1) {
    const { timings } = await core.run(photoTask(model, at.photos[round % at.photos.length]!));
    if (round >= 20) inference.push(timings.inference);
  }
  const batches = core.stats().syncBatches;
  await core.close();
  return (batches * 1_000) / median(inference);
}
