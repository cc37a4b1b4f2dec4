/** How near do durable jobs come to the engine alone, and what does a full queue do to a synchronous caller? */
import { setTimeout as sleep } from 'node:timers/promises';
import { mostPerSecond } from './load/alone.js';
import { HttpClient } from './load/http-client.js';
import { summarise } from './load/percentiles.js';
import { serve, setting, type Measurement } from './setting.js';
import { engineOnly } from './sync-throughput.bench.js';

const IMAGES = 600;

export default async function asyncThroughput(): Promise<Measurement[]> {
  const at = setting();
  await using service = await serve(at);
  const client = new HttpClient(service.url, 8);
  const detect = () => client.detect(at.photos[0]);
  const paths = Array.from({ length: IMAGES }, (_, index) => at.photos[index % at.photos.length]!);
  const job = () => client.runJob(paths);
  const idle: number[] = [];
  for (let round = 0; round < 120; round += 1) idle.push(await detect());
  await job();
  const engineBefore = await engineOnly();
  const rate = await job();
  const engine = (engineBefore + (await engineOnly())) / 2;
  const bound = await mostPerSecond(at, 'async', 'many');

  const loaded: number[] = [];
  const background = job();
  let running = true;
  void background.finally(() => (running = false));
  await sleep(300);
  while (running) {
    loaded.push(await detect());
    await sleep(30);
  }
  client.close();
  const p50 = summarise(idle).p50;
  const p99 = summarise(loaded).p99;
  return [
    {
      what: `async images, one job of ${IMAGES}`,
      value: rate,
      unit: 'images/s',
      baseline: { what: 'engine alone', value: engine },
      ratio: rate / engine,
      goal: '>= 0.90',
      met: rate / engine >= 0.9,
      bound: { what: 'decode + network', value: bound },
    },
    {
      what: 'sync p99 while a job saturates the machine',
      value: p99,
      unit: 'ms',
      baseline: { what: 'sync p50 idle', value: p50 },
      ratio: p99 / p50,
      goal: '<= 2.5',
      met: p99 / p50 <= 2.5,
    },
  ];
}
