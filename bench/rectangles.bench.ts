/** The time that smaller inputs save a synchronous caller, photo by photo. The services take turns. */
import { HttpClient } from './load/http-client.js';
import { median, summarise } from './load/percentiles.js';
import { serve, setting, type Measurement } from './setting.js';

const ROUNDS = 200;

export default async function rectangles(): Promise<Measurement[]> {
  const at = setting();
  await using square = await serve(at, { LATTICE_RECTANGLES: 'off' });
  await using rectangular = await serve(at, { LATTICE_RECTANGLES: 'auto' });
  const sides = [square, rectangular].map(({ url }) => ({
    client: new HttpClient(url, 1),
    took: [] as number[],
  }));
  for (let round = -20; round < ROUNDS; round += 1) {
    const photo = at.photos[(round + 20) % at.photos.length]!;
    for (const { client, took } of sides) {
      const ms = await client.detect(photo);
      if (round >= 0) took.push(ms);
    }
  }
  for (const { client } of sides) client.close();
  const [without, having] = sides.map(({ took }) => took) as [number[], number[]];
  const saved = median(having.map((ms, index) => 1 - ms / without[index]!));
  return [
    {
      what: 'sync detect over HTTP, rectangles, p50',
      value: summarise(having).p50,
      unit: 'ms',
      baseline: { what: '640 x 640 only, p50', value: summarise(without).p50 },
      ratio: summarise(having).p50 / summarise(without).p50,
    },
    { what: 'saved, median of the photos', value: 100 * saved, unit: '%' },
  ];
}
