/** Pictures of a job as a zip: drawn, covered and cut out, from files of a folder. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Annotator } from '../../../../src/annotate/annotate.js';
import { openFileAccess, type FileAccess } from '../../../../src/execution/here/file-access.js';
import type { AppDeps } from '../../../../src/http/app-deps.js';
import type { ImageOutcome } from '../../../../src/store/job.js';
import { loadConfig } from '../../../../src/settings/config.js';
import { compose, DRAWN, get, submitted, type Harness } from '../../../support/composed-app.js';
import { errorOutcome, okOutcome } from '../../../support/outcomes.js';

let folder: string;
let root: string;
let files: FileAccess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-drawn-'));
  root = join(folder, 'images');
  mkdirSync(join(root, 'day'), { recursive: true });
  const create = { width: 640, height: 480, channels: 3 as const, background: 'teal' };
  const photo = await sharp({ create }).jpeg().toBuffer();
  for (const name of ['a.jpg', 'day/a.jpg', 'c.jpg']) writeFileSync(join(root, name), photo);
  writeFileSync(join(root, 'damaged.jpg'), photo.subarray(0, 40));
  files = await openFileAccess({ ...loadConfig({}, {}), imageRoots: [root] });
});

afterAll(async () => {
  await files.close();
  rmSync(folder, { recursive: true, force: true });
});

const image_paths = ['a.jpg', 'day/a.jpg', 'gone.jpg', 'damaged.jpg', 'c.jpg'];

async function ended(changes: Partial<AppDeps> = {}): Promise<{ app: Harness; id: string }> {
  const { maxPixels } = loadConfig({}, {});
  const annotator = new Annotator({ detector: files, dataDir: folder, maxPixels });
  const app = compose({ imageRoots: [root] }, { annotator, ...changes });
  const id = await submitted(app, { image_paths });
  const ok = okOutcome(['car', 'bus']);
  await app.jobs.finish(id, [ok, ok, ok, ok, errorOutcome('invalid_image', `${root}/c.jpg.`)]);
  return { app, id };
}

async function archive(app: Harness, path: string) {
  const answer = await app.app.request(path);
  expect(answer.status).toBe(200);
  const entries = unzipSync(new Uint8Array(await answer.arrayBuffer()));
  const text = (name: string) => Buffer.from(entries[name] ?? []).toString();
  return { answer, entries, text };
}

/** The colour in the middle of the left line of the box at 10, 20. */
async function lineColour(jpeg: Uint8Array): Promise<number[]> {
  const raw = await sharp(jpeg)
    .extract({ left: 12, top: 30, width: 1, height: 1 })
    .raw()
    .toBuffer();
  return [...raw];
}

test('every picture that can be read is in it, drawn; the others are named', async () => {
  const { app, id } = await ended();
  const { answer, entries, text } = await archive(app, `/v1/jobs/${id}/drawn`);
  expect(answer.headers.get('content-type')).toBe('application/zip');
  expect(answer.headers.get('content-disposition')).toBe(
    `attachment; filename="${id}.pictures.zip"`,
  );
  expect(Object.keys(entries)).toEqual([
    'pictures/a.jpg',
    'pictures/a-2.jpg',
    'pictures.csv',
    'left-out.txt',
  ]);
  expect(text('pictures.csv')).toBe(
    'name,image_path,boxes\r\na.jpg,a.jpg,2\r\na-2.jpg,day/a.jpg,2\r\n',
  );
  const left = text('left-out.txt').trimEnd().split('\n');
  expect(left.map((line) => line.split(':')[0])).toEqual(['gone.jpg', 'damaged.jpg', 'c.jpg']);
  expect(text('left-out.txt')).not.toContain(folder);
  const plain = await lineColour(await sharp(join(root, 'a.jpg')).toBuffer());
  expect(await lineColour(entries['pictures/a.jpg']!)).not.toEqual(plain);
});

test('it shows the boxes that are asked for', async () => {
  const { app, id } = await ended();
  const rows = async (query: string) =>
    (await archive(app, `/v1/jobs/${id}/drawn?${query}`)).text('pictures.csv').split('\r\n')[1];
  expect(await rows('class=bus')).toBe('a.jpg,a.jpg,1');
  expect(await rows('class=bus,car')).toBe('a.jpg,a.jpg,2');
  // The car has 0.9, the bus 0.8.
  expect(await rows('confidence_threshold=0.8')).toBe('a.jpg,a.jpg,1');
  const { entries } = await archive(app, `/v1/jobs/${id}/drawn?confidence_threshold=1`);
  const plain = await lineColour(await sharp(join(root, 'a.jpg')).toBuffer());
  expect(await lineColour(entries['pictures/a.jpg']!)).toEqual(plain);
});

const pixel = async (jpeg: Uint8Array, left: number, top: number): Promise<number[]> => [
  ...(await sharp(jpeg).extract({ left, top, width: 1, height: 1 }).raw().toBuffer()),
];

test('boxes are covered, all or those of some classes', async () => {
  const { app, id } = await ended();
  const path = `/v1/jobs/${id}/covered`;
  const { answer, entries, text } = await archive(app, `${path}?how=fill`);
  expect(answer.headers.get('content-disposition')).toBe(
    `attachment; filename="${id}.covered.zip"`,
  );
  expect(Object.keys(entries)).toEqual([
    'covered/a.jpg',
    'covered/a-2.jpg',
    'covered.csv',
    'left-out.txt',
  ]);
  expect(text('covered.csv')).toBe(
    'name,image_path,boxes\r\na.jpg,a.jpg,2\r\na-2.jpg,day/a.jpg,2\r\n',
  );
  const teal = await pixel(readFileSync(join(root, 'a.jpg')), 300, 300);
  const jpeg = entries['covered/a.jpg']!;
  expect(Math.max(...(await pixel(jpeg, 20, 30)))).toBeLessThan(5);
  expect(await pixel(jpeg, 300, 300)).toEqual(teal);
  const rows = async (query: string) =>
    (await archive(app, `${path}?${query}`)).text('covered.csv').split('\r\n')[1];
  expect(await rows('class=bus')).toBe('a.jpg,a.jpg,1');
  expect(await rows('class=Bus,CAR&how=blur&margin=1')).toBe('a.jpg,a.jpg,2');
  expect(await rows('class=*')).toBe('a.jpg,a.jpg,2');
});

test('a box is covered by the name of the class that was merged into it', async () => {
  const { app } = await ended();
  const id = await submitted(app, { image_paths: ['a.jpg'] });
  const outcome = okOutcome(['car', 'car']) as Extract<ImageOutcome, { status: 'ok' }>;
  outcome.detections[1]!.alternative = { class: 'truck', confidence: 0.3 };
  await app.jobs.finish(id, [outcome]);
  const { text } = await archive(app, `/v1/jobs/${id}/covered?class=truck`);
  expect(text('covered.csv').split('\r\n')[1]).toBe('a.jpg,a.jpg,1');
});

test('nothing is covered by a name that the model lacks or whose boxes were not asked for', async () => {
  const { app, id } = await ended();
  const refused = async (query: string) => {
    const { status, body } = await get(app, `/v1/jobs/${id}/covered?${query}`);
    expect([status, body.code]).toEqual([422, 'validation_failed']);
    return body.detail as string;
  };
  expect(await refused('class=caar')).toContain("no class 'caar'");
  expect(await refused('class=truck&classes=car')).toContain("'truck' were not asked for");
  expect(await refused('how=wash')).toContain('pixelate, blur, fill');
  expect(await refused('margin=1.5')).toContain('0 to 1');
});

test('a picture that is another one by now is not covered, and left out', async () => {
  const { app } = await ended();
  const create = { width: 320, height: 240, channels: 3 as const, background: 'teal' };
  await sharp({ create }).jpeg().toFile(join(root, 'small.jpg'));
  const id = await submitted(app, { image_paths: ['small.jpg'] });
  await app.jobs.finish(id, [okOutcome()]);
  const { entries, text } = await archive(app, `/v1/jobs/${id}/covered`);
  expect(Object.keys(entries)).toEqual(['covered.csv', 'left-out.txt']);
  expect(text('left-out.txt')).toBe(
    'small.jpg: The image has changed since its boxes were found.\n',
  );
});

test('a crop of each box lies in the folder of its class, whatever that is called', async () => {
  const { app, id } = await ended();
  const { entries, text } = await archive(app, `/v1/jobs/${id}/crops?margin=0.5`);
  expect(Object.keys(entries)).toEqual([
    'crops/car/a-1.jpg',
    'crops/bus/a-2.jpg',
    'crops/car/a-2-1.jpg',
    'crops/bus/a-2-2.jpg',
    'crops.csv',
    'left-out.txt',
  ]);
  expect(text('crops.csv').split('\r\n').slice(0, 3)).toEqual([
    'crop,image_path,class,confidence,x_min,y_min,x_max,y_max',
    'car/a-1.jpg,a.jpg,car,0.9,10,20,30,40',
    'bus/a-2.jpg,a.jpg,bus,0.8,10,20,31,40',
  ]);
  const { width, height } = await sharp(entries['crops/car/a-1.jpg']).metadata();
  expect([width, height]).toEqual([40, 40]);
  const some = await archive(app, `/v1/jobs/${id}/crops?class=bus`);
  expect(Object.keys(some.entries)[0]).toBe('crops/bus/a-2.jpg');

  const odd = await submitted(app, { image_paths: ['a.jpg'] });
  await app.jobs.finish(odd, [okOutcome(['..', '../../up', '/', 'a\\b:c', '', 'x'.repeat(900)])]);
  const names = Object.keys((await archive(app, `/v1/jobs/${odd}/crops`)).entries);
  expect(names.slice(0, 5)).toEqual([
    'crops/_/a-1.jpg',
    'crops/__.._up/a-2.jpg',
    'crops/_/a-3.jpg',
    'crops/a_b_c/a-4.jpg',
    'crops/_/a-5.jpg',
  ]);
  expect(names[5]!.length).toBeLessThan(255);
});

test('pictures are drawn as they are read; only some archives are sent at a time', async () => {
  let drawn = 0;
  const pictures = () => Promise.resolve([Buffer.alloc(100_000, (drawn += 1))]);
  const { app, id } = await ended({ annotator: { ...DRAWN, pictures } });
  const path = `/v1/jobs/${id}/drawn`;
  const open: ReadableStreamDefaultReader<Uint8Array>[] = [];
  for (let count = 0; count < 4; count += 1)
    open.push((await app.app.request(path)).body!.getReader());
  expect(drawn).toBeLessThan(4 * 4);
  const refused = await get(app, path);
  expect([refused.status, refused.body.code]).toEqual([503, 'overloaded']);
  for (const reader of open) await reader.cancel();
  for (let count = 0; count < 5; count += 1) await app.app.request(path, { method: 'HEAD' });
  expect((await app.app.request(path)).status).toBe(200);
});

test('it is for ended jobs, for known fields, and not for pages of other origins', async () => {
  const { app, id } = await ended();
  const running = await submitted(app, { image_paths });
  expect((await get(app, `/v1/jobs/${running}/drawn`)).body.code).toBe('job_not_finished');
  expect((await get(app, '/v1/jobs/job_none/drawn')).status).toBe(404);
  for (const query of ['class=', 'confidence_threshold=2', 'format=png']) {
    expect((await get(app, `/v1/jobs/${id}/drawn?${query}`)).status).toBe(422);
  }
  const foreign = { origin: 'http://evil.test', 'sec-fetch-site': 'cross-site' };
  expect((await get(app, `/v1/jobs/${id}/drawn`, foreign)).status).toBe(403);
});
