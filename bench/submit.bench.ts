/** The cost of a durable 202 in file syncs, and the number of them per second at 64 clients. */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { HttpClient } from './load/http-client.js';
import { closedLoopFor } from './load/loops.js';
import { median } from './load/percentiles.js';
import { serve, setting, type Measurement } from './setting.js';

const ROUNDS = 300;

export default async function submit(): Promise<Measurement[]> {
  const at = setting();
  await using service = await serve(at, { LATTICE_MAX_QUEUED_JOBS: '1000000' });
  const client = new HttpClient(service.url, 64);
  // A path that does not exist: the store does all its work, and the engine none.
  const body = { job_type: 'detect_cars', image_paths: ['absent.jpg'] };
  const send = async () => {
    const reply = await client.send('POST', '/v1/jobs/submit', body);
    if (reply.status !== 202) throw new Error(reply.body);
    return reply.ms;
  };
  const folder = mkdtempSync(join(service.dataDir, 'sync-'));
  const fd = openSync(join(folder, 'probe'), 'w');
  const page = Buffer.alloc(4_096, 1);
  const submits: number[] = [];
  const syncs: number[] = [];
  for (let round = -50; round < ROUNDS; round += 1) {
    const ms = await send();
    const start = performance.now();
    writeSync(fd, page);
    fdatasyncSync(fd);
    const sync = performance.now() - start;
    if (round < 0) continue;
    submits.push(ms);
    syncs.push(sync);
  }
  closeSync(fd);
  rmSync(folder, { recursive: true });
  const load = await closedLoopFor(4, 64, send);
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
    },
    {
      what: 'durable submits, 64 clients',
      value: load.perSecond,
      unit: 'submits/s',
      goal: '>= 2000',
      met: load.perSecond >= 2_000,
    },
  ];
}
