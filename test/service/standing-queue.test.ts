/** Vehicles that wait one after the other in one place, beside parked ones, to a real service: descriptors tell. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Detection } from '../../src/api/schemas/image.js';
import { LatticeClient } from '../../src/client/lattice-client.js';
import { call, FEW_THREADS, PICTURE } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';

/** The car of the test pattern in whose place the queue stands, and lines that make another one of it. */
const WAITING = [268, 252, 364, 316] as const;
const LINES = [
  [],
  [12, 24, 36, 48, 60, 72, 84].map((x) => [x, 12, x, 52]),
  [14, 26, 38, 50].map((y) => [10, y, 86, y]),
];
const IMAGES = 12;

let folder: string;
let service: ServiceProcess;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-queue-'));
  for (const name of ['data', 'images', 'images/gate']) mkdirSync(join(folder, name));
  const stills = await Promise.all(LINES.map(still));
  for (let minute = 0; minute < IMAGES; minute += 1) {
    const name = `20251126_14${String(minute).padStart(2, '0')}00.png`;
    writeFileSync(join(folder, 'images/gate', name), stills[minute % stills.length]!);
  }
  service = await startService({
    dataDir: join(folder, 'data'),
    env: { ...FEW_THREADS, LATTICE_IMAGE_ROOTS: join(folder, 'images') },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** The test pattern with another car in that place. */
async function still(lines: readonly (readonly number[])[]): Promise<Buffer> {
  const [left, top, right, bottom] = WAITING;
  const [width, height] = [right - left, bottom - top];
  const drawn = lines.map(
    ([x1, y1, x2, y2]) =>
      `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="#222" stroke-width="2"/>`,
  );
  const body = `<rect x="4" y="4" width="${width - 8}" height="${height - 5}" fill="#df2b2b"/>`;
  const svg = `<svg width="${width}" height="${height}">${lines.length > 0 ? body : ''}${drawn.join('')}</svg>`;
  return sharp(PICTURE)
    .composite([{ input: Buffer.from(svg), left, top }])
    .png()
    .toBuffer();
}

/** How many images have a standing vehicle in each place, by the left side of its box. */
async function standing(places: boolean): Promise<ReadonlyMap<number, number>> {
  const client = new LatticeClient({ url: service.url });
  const { job_id: id } = await client.submit({
    ...{ job_type: 'batch_detect', image_paths: ['gate/'], places },
  });
  await client.waitFor(id);
  const { body } = await call(service.url, `/v1/jobs/${id}/result?static=only`);
  const lefts = new Map<number, number>();
  for (const { detections } of body.result.images as { detections: Detection[] }[]) {
    for (const { box } of detections) {
      const left = Math.round(box[0]);
      lefts.set(left, (lefts.get(left) ?? 0) + 1);
    }
  }
  return lefts;
}

test('a queue stands like a parked vehicle without descriptors, and does not with them', async () => {
  const parked = [60, 64, 156, 408, 452];
  const all = await standing(false);
  expect([...all.keys()].sort((a, b) => a - b)).toEqual([60, 64, 156, WAITING[0], 408, 452]);
  const told = await standing(true);
  expect([...told.keys()].sort((a, b) => a - b)).toEqual(parked);
  for (const left of parked) expect(told.get(left)).toBe(IMAGES);
});
