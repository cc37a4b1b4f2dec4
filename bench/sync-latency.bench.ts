/**
 * The time that the service adds to decode + engine for one synchronous caller. HTTP calls, bare calls and calls of
 * a server that answers at once alternate.
 */
import { startBareServer } from './load/bare-server.js';
import { HttpClient } from './load/http-client.js';
import { summarise } from './load/percentiles.js';
import { openBareCore, photoTask, serve, setting, type Measurement } from './setting.js';

const ROUNDS = 300;

export default async function syncLatency(): Promise<Measurement[]> {
  const at = setting();
  await using service = await serve(at);
  const { core, model } = await openBareCore(at);
  using answering = await startBareServer();
  const client = new HttpClient(service.url, 1);
  using bareHttp = new HttpClient(answering.url, 1);
  const http: number[] = [];
  const bare: number[] = [];
  const least: number[] = [];
  for (let round = -20; round < ROUNDS; round += 1) {
    const photo = at.photos[(round + 20) % at.photos.length]!;
    const ms = await client.detect(photo);
    const { timings } = await core.run(photoTask(model, photo));
    const answered = await bareHttp.send('POST', '/', { image_path: photo });
    if (round < 0) continue;
    http.push(ms);
    bare.push(timings.decode + timings.inference);
    least.push(timings.decode + timings.inference + answered.ms);
  }
  client.close();
  await core.close();
  const value = summarise(http);
  const floor = summarise(bare);
  const bound = summarise(least);
  return [
    {
      what: 'sync detect over HTTP, 1 client, p50',
      value: value.p50,
      unit: 'ms',
      baseline: { what: 'in-process decode + engine, p50', value: floor.p50 },
      ratio: value.p50 / floor.p50,
      bound: { what: 'decode + network + bare HTTP, p50', value: bound.p50 },
      goal: '<= 1.10',
      met: value.p50 / floor.p50 <= 1.1,
    },
    {
      what: 'sync detect over HTTP, 1 client, p99',
      value: value.p99,
      unit: 'ms',
      baseline: { what: 'in-process decode + engine, p99', value: floor.p99 },
      ratio: value.p99 / floor.p99,
      bound: { what: 'decode + network + bare HTTP, p99', value: bound.p99 },
    },
  ];
}
