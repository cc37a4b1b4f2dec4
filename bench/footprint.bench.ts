/** How long from start to the first box, and how much memory at rest? */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient } from './load/http-client.js';
import { median } from './load/percentiles.js';
import { serve, setting, type Measurement } from './setting.js';

export default async function footprint(): Promise<Measurement[]> {
  const at = setting();
  const starts: number[] = [];
  const resident: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const start = performance.now();
    await using service = await serve(at);
    const client = new HttpClient(service.url, 1);
    await client.detect(at.photos[0]);
    starts.push(performance.now() - start);
    client.close();
    await sleep(500);
    const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'));
    resident.push(Number(line?.[1]) / 1024);
  }
  return [
    {
      what: 'process start to first box',
      value: median(starts),
      unit: 'ms',
      goal: '<= 900',
      met: median(starts) <= 900,
    },
    {
      what: 'resident memory at rest, n model',
      value: median(resident),
      unit: 'MiB',
      goal: '<= 240',
      met: median(resident) <= 240,
    },
  ];
}
