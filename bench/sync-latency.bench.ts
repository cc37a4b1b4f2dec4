/**
 * The time that the service adds to decode + engine for one synchronous caller. HTTP calls and bare calls alternate.
 */
import { HttpClient } from './load/http-client.js';
import { summarise } from './load/percentiles.js';
import { openBareCore, photoTask, serve, setting, type Measurement } from './setting.js';

const ROUNDS = 300;

export default async function syncLatency(): Promise<Measurement[]> {
  const at = setting();
  await using service = await serve(at);
  const { core, model } = await openBareCore(at);
  const client = new HttpClient(service.url, 1);
  const http: number[] = [];
  const bare: number[] = [];
  for (let round = -20; round < ROUNDS; round += 1) {
    const photo = at.photos[(round + 20) % at.photos.length]!;
    const ms = await client.detect(photo);
    const { timings } = await core.run(photoTask(model, photo));
    if (round < 0) continue;
    http.push(ms);
    bare.push(timings.decode + timings.inference);
  }
  client.close();
  await core.close();
  const value = summarise(http);
  const floor = summarise(bare);
  return [
    {
      what: 'sync detect over HTTP, 1 client, p50',
      value: value.p50,
      unit: 'ms',
      baseline: { what: 'in-process decode + engine, p50', value: floor.p50 },
      ratio: value.p50 / floor.p50,
      goal: '<= 1.10',
      met: value.p50 / floor.p50 <= 1.1,
    },
    {
      what: 'sync detect over HTTP, 1 client, p99',
      value: value.p99,
      unit: 'ms',
      baseline: { what: 'in-process decode + engine, p99', value: floor.p99 },
      ratio: value.p99 / floor.p99,
    },
  ];
}
