/**
 * Counts of a job of a real service: the times of pictures on a disk, by every door, and after the pictures are gone.
 */
import { text } from 'node:stream/consumers';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LatticeClient } from '../../src/client/lattice-client.js';
import { run } from '../cli/run.js';
import { FEW_THREADS, PICTURE } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';

let folder: string;
let service: ServiceProcess;
let jobId: string;

const serve = () =>
  startService({
    dataDir: join(folder, 'data'),
    // Nine hours before UTC: files have their times in this zone.
    env: { ...FEW_THREADS, LATTICE_IMAGE_ROOTS: join(folder, 'images'), TZ: 'Asia/Tokyo' },
  });
const client = () => new LatticeClient({ url: service.url });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-counts-'));
  for (const name of ['data', 'images', 'images/gate']) mkdirSync(join(folder, name));
  const put = (path: string, bytes: Buffer | string) => {
    writeFileSync(join(folder, 'images', path), bytes);
    const changed = new Date('2025-11-25T20:15:00Z');
    utimesSync(join(folder, 'images', path), changed, changed);
  };
  const shapes = await sharp(PICTURE).png().toBuffer();
  const exif = { IFD2: { DateTimeOriginal: '2025:11:26 14:30:00' } };
  put('gate/exif.png', await sharp(PICTURE).withExif(exif).png().toBuffer());
  put('gate/20251126_145959.png', shapes);
  put('changed.png', shapes);
  const blank = { create: { width: 64, height: 64, channels: 3 as const, background: '#777' } };
  put('2025-11-27T00-00-00.png', await sharp(blank).png().toBuffer());
  put('broken.png', 'no picture');
  service = await serve();
  const image_paths = [
    'gate/',
    'changed.png',
    '2025-11-27T00-00-00.png',
    'broken.png',
    'absent.png',
  ];
  const accepted = await client().submit({ job_type: 'batch_detect', image_paths });
  jobId = accepted.job_id;
  await client().waitFor(jobId);
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const ROWS = [
  ['gate/20251126_145959.png', '2025-11-26T14:59:59', 'name', 6],
  ['gate/exif.png', '2025-11-26T14:30:00', 'exif', 6],
  ['changed.png', '2025-11-26T05:15:00', 'file', 6],
  ['2025-11-27T00-00-00.png', '2025-11-27T00:00:00', 'name', 0],
  ['broken.png', '2025-11-26T05:15:00', 'file', 0],
  ['absent.png', null, 'none', 0],
];

async function rows() {
  const { groups } = await client().counts(jobId, 'image');
  return groups.map((each) => [each.group, each.time, each.time_source, each.detections]);
}

test('each picture has its time, with or without boxes, and has it when the file is gone', async () => {
  expect(await rows()).toEqual(ROWS);
  rmSync(join(folder, 'images'), { recursive: true });
  mkdirSync(join(folder, 'images'));
  await service.kill();
  service = await serve();
  expect(await rows()).toEqual(ROWS);
});

test('hours are the same as JSON and CSV, from the client and the command line', async () => {
  const counts = await client().counts(jobId);
  expect(counts).toMatchObject({
    status: 'completed',
    pending_images: 0,
    total: { images: 6, failed_images: 2, empty_images: 1, detections: 18 },
    groups: [
      { group: '2025-11-26T05:00', images: 2, failed_images: 1, detections: 6 },
      { group: '2025-11-26T14:00', images: 2, time_sources: { exif: 1, name: 1 }, detections: 12 },
      { group: '2025-11-27T00:00', images: 1, empty_images: 1, detections: 0 },
      { group: null, images: 1, failed_images: 1 },
    ],
  });
  const csv = await text(client().countsCsv(jobId));
  const classes = Object.entries(counts.total.class_counts);
  expect(csv.split('\r\n').slice(0, 2)).toEqual([
    'hour,images,failed_images,empty_images,detections,' +
      'time_sources.exif,time_sources.name,time_sources.file,time_sources.none,' +
      classes.map(([name]) => `class_counts.${name}`).join(','),
    `2025-11-26T05:00,2,1,0,6,0,0,2,0,${classes.map(([, boxes]) => boxes / 3).join(',')}`,
  ]);
  const cli = (...flags: string[]) => run('job', 'counts', jobId, '--url', service.url, ...flags);
  expect(await cli('--by', 'hour', '--format', 'csv')).toMatchObject({ out: csv, code: 0 });
  expect(JSON.parse((await cli('--json')).out)).toEqual(counts);
  const { out } = await cli('--by', 'day');
  expect(out).toMatch(/^DAY +IMAGES +FAILED +EMPTY +BOXES +\w/);
  expect(out).toMatch(/^2025-11-26 +4 +1 +0 +18 /m);
  expect(out).toMatch(/^total +6 +2 +1 +18 /m);
  expect(out).toMatch(/exif 1/);
  expect(await cli('-o', 'x.csv')).toMatchObject({ code: 2 });
});

test('events are the same from the client and the command line', async () => {
  const rule = { by: 'event', event_gap_s: 1_800, camera: 'all' } as const;
  const { total, groups } = await client().counts(jobId, rule);
  expect(groups.map(({ group, last_time, images }) => [group, last_time, images])).toEqual([
    ['2025-11-26T05:15:00', '2025-11-26T05:15:00', 2],
    ['2025-11-26T14:30:00', '2025-11-26T14:59:59', 2],
    ['2025-11-27T00:00:00', '2025-11-27T00:00:00', 1],
    [null, null, 1],
  ]);
  // Two images with the same six boxes are one event.
  expect(total).toMatchObject({ images: 6, detections: 12 });
  // Nothing stands in images that are hours apart.
  const standing = await client().counts(jobId, { by: 'day', static: 'only' });
  expect(standing.total).toMatchObject({ images: 6, detections: 0 });
  const flags = ['--by', 'event', '--event-gap', '1800', '--camera', 'all'];
  const cli = (...more: string[]) =>
    run('job', 'counts', jobId, '--url', service.url, ...flags, ...more);
  const csv = await text(client().countsCsv(jobId, rule));
  expect(await cli('--format', 'csv')).toMatchObject({ out: csv, code: 0 });
  const { out } = await cli();
  expect(out).toMatch(/^EVENT +LAST +CAMERA +BEST IMAGE +IMAGES /);
  expect(out).toMatch(/^2025-11-26T14:30:00 +2025-11-26T14:59:59 +- +gate\/exif.png +2 +0 +0 +6 /m);
  expect(await cli('--event-gap', '-1')).toMatchObject({ code: 2 });
  expect(await cli('--by', 'day')).toMatchObject({
    err: expect.stringContaining('needs by=event'),
  });
});
