/** How near does a job come to decode and network, by the size of its pictures? Both take turns. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makePhotos } from './gpu/photos.js';
import { mostPerSecond } from './load/alone.js';
import { HttpClient } from './load/http-client.js';
import { median } from './load/percentiles.js';
import { serve, setting, type Measurement, type Setting } from './setting.js';

const ROUNDS = 8;
const SOURCES = 4;
/** Jobs of about the same time. */
const IMAGES: Record<string, number> = { '0.3 MP': 600, '2 MP': 400, '12 MP': 120 };
const GOAL = 0.96;

export default async function jobSizes(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'lattice-sizes-'));
  try {
    const at = { ...setting(), imageRoot: folder };
    const sizes = await makePhotos(folder, SOURCES, false);
    await using service = await serve(at);
    const client = new HttpClient(service.url, 1);
    const rows: Measurement[] = [];
    for (const { name, files: photos } of sizes) {
      const count = IMAGES[name];
      if (count !== undefined) rows.push(await ofSize(client, { ...at, photos }, name, count));
    }
    client.close();
    return rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function ofSize(
  client: HttpClient,
  at: Setting,
  name: string,
  count: number,
): Promise<Measurement> {
  const paths = Array.from({ length: count }, (_, index) => at.photos[index % at.photos.length]!);
  const rates: number[] = [];
  const bounds: number[] = [];
  // The first job loads code and takes memory.
  await client.runJob(paths);
  for (let round = 0; round < ROUNDS; round += 1) {
    rates.push(await client.runJob(paths));
    bounds.push(await mostPerSecond(at, 'async', 'many'));
  }
  const share = median(rates.map((rate, round) => rate / bounds[round]!));
  return {
    what: `job of ${count} JPEGs of ${name}`,
    value: median(rates),
    unit: 'images/s',
    ratio: share,
    goal: `>= ${GOAL} of the bound`,
    met: share >= GOAL,
    bound: { what: 'decode + network', value: median(bounds) },
  };
}
