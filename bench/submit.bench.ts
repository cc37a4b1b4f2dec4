/** The cost of a durable 202 in file syncs, and the number of them per second at 64 clients. */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { startBareServer } from './load/bare-server.js';
import { HttpClient } from './load/http-client.js';
import { closedLoopFor } from './load/loops.js';
import { median } from './load/percentiles.js';
import { serve, setting, type Measurement } from './setting.js';

const ROUNDS = 300;

export default async function submit(): Promise<Measurement[]> {
  const at = setting();
  await using service = await serve(at, { LATTICE_MAX_QUEUED_JOBS: '1000000' });
  using answering = await startBareServer();
  const client = new HttpClient(service.url, 64);
  using bareHttp = new HttpClient(answering.url, 64);
  // A path that does not exist: the store does all its work, and the engine none.
  const body = { job_type: 'detect_cars', image_paths: ['absent.jpg'] };
  const send = async () => {
    const reply = await client.send('POST', '/v1/jobs/submit', body);
    if (reply.status !== 202) throw new Error(reply.body);
    return reply.ms;
  };
  const sendBare = async () => (await bareHttp.send('POST', '/', body)).ms;
  const folder = mkdtempSync(join(service.dataDir, 'sync-'));
  const fd = openSync(join(folder, 'probe'), 'w');
  const page = Buffer.alloc(4_096, 1);
  const submits: number[] = [];
  const syncs: number[] = [];
  const least: number[] = [];
  for (let round = -50; round < ROUNDS; round += 1) {
    const ms = await send();
    const start = performance.now();
    writeSync(fd, page);
    fdatasyncSync(fd);
    const sync = performance.now() - start;
    const answered = await sendBare();
    if (round < 0) continue;
    submits.push(ms);
    syncs.push(sync);
    least.push(sync + answered);
  }
  closeSync(fd);
  rmSync(folder, { recursive: true });
  const load = await closedLoopFor(4, 64, send);
  const bare = await closedLoopFor(2, 64, sendBare);
  client.close();
  const ratio = median(submits) / median(syncs);
  return [
    {
      what: '202 for a durable submit, 1 client, p50',
      value: median(submits),
      unit: 'ms',
      baseline: { what: 'write 4 KiB + fdatasync, p50', value: median(syncs) },
      ratio,
      goal: '<= 2',
      met: ratio <= 2,
      bound: { what: 'bare HTTP + write and fdatasync, p50', value: median(least) },
    },
    {
      what: 'durable submits, 64 clients',
      value: load.perSecond,
      unit: 'submits/s',
      goal: '>= 2000',
      met: load.perSecond >= 2_000,
      bound: { what: 'bare HTTP', value: bare.perSecond },
    },
  ];
}
