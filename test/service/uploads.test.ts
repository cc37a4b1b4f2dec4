/** Pictures in requests to a real service: boxes as from the same files, errors as of files, bounded memory. */
import { request } from 'node:http';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LatticeClient } from '../../src/client/lattice-client.js';
import {
  call,
  type Body,
  DEMO,
  detect,
  expectVehicles,
  PICTURE,
} from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';
import { workersReady } from '../support/worker-conformance.js';

const MEBIBYTE = 2 ** 20;
const ROUTE = '/v1/inference/detect';

let folder: string;
let service: ServiceProcess;
const files: [name: string, type: string][] = [
  ['plain.png', 'image/png'],
  ['turned.jpg', 'image/jpeg'],
  ['plain.webp', 'image/webp'],
  ['plain.tif', 'image/tiff'],
  ['plain.avif', 'image/avif'],
];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-uploads-'));
  const upright = sharp(PICTURE).removeAlpha();
  // Stored on its side, shown upright: EXIF says so.
  const side = upright.clone().rotate(-90).jpeg({ quality: 95 }).withMetadata({ orientation: 6 });
  await Promise.all([
    upright.clone().png().toFile(join(folder, 'plain.png')),
    side.toFile(join(folder, 'turned.jpg')),
    upright.clone().webp({ quality: 95 }).toFile(join(folder, 'plain.webp')),
    upright.clone().tiff().toFile(join(folder, 'plain.tif')),
    upright.clone().avif({ quality: 90, effort: 0 }).toFile(join(folder, 'plain.avif')),
    sharp({ create: { width: 17_000, height: 8, channels: 3, background: 'red' } })
      .png()
      .toFile(join(folder, 'wide.png')),
  ]);
  writeFileSync(join(folder, 'text.jpg'), 'not a picture');
  writeFileSync(join(folder, 'cut.png'), readFileSync(PICTURE).subarray(0, 2_000));
  writeFileSync(join(folder, 'empty.jpg'), '');
  service = await startService({ env: { LATTICE_IMAGE_ROOTS: `${DEMO}:${folder}` } });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const read = (file: string) => new Uint8Array(readFileSync(join(folder, file)));

const send = (url: string, body: Uint8Array<ArrayBuffer>, type = 'image/jpeg', query = '') =>
  call(url, ROUTE + query, { method: 'POST', body, headers: { 'content-type': type } });

/** Without the copies of `fetch`. */
function sendLarge(bytes: Uint8Array): Promise<{ status: number; retryAfter: number; body: Body }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'image/jpeg', 'content-length': bytes.length };
    const sent = request(service.url + ROUTE, { method: 'POST', headers, agent: false });
    sent.on('error', reject).on('response', (response) => {
      const status = response.statusCode ?? 0;
      const retryAfter = Number(response.headers['retry-after'] ?? 0);
      json(response).then((body) => {
        resolve({ status, retryAfter, body: body as Body });
      }, reject);
    });
    sent.end(bytes);
  });
}

function sendForm(url: string, file: string, fields: Record<string, string> = {}) {
  const body = new FormData();
  body.append('image', new Blob([read(file)]), file);
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return call(url, ROUTE, { method: 'POST', body });
}

describe('the same boxes by path, as a body and in a form', () => {
  test.each(files)('%s', async (file, type) => {
    const byPath = await detect(service.url, { image_path: file, confidence_threshold: 0.25 });
    expectVehicles(byPath.body.detections);
    const query = '?confidence_threshold=0.25';
    const sent = await send(service.url, read(file), type, query);
    const form = await sendForm(service.url, file, { confidence_threshold: '0.25' });
    const { detections, image } = byPath.body as typeof byPath.body & { image: unknown };
    expect(sent.body).toMatchObject({ detections, image, image_path: 'image' });
    expect(form.body).toMatchObject({ detections, image, image_path: file });
  });

  test('by the Node client', async () => {
    const client = new LatticeClient({ url: service.url });
    const fields = { confidence_threshold: 0.25, classes: ['car', 'bus'] };
    const byPath = await client.detect({ image_path: 'plain.png', ...fields });
    expect(byPath.detections.length).toBeGreaterThan(2);
    const sent = await client.detectPicture(new Uint8Array(read('plain.png')), fields);
    expect(sent).toMatchObject({ detections: byPath.detections, image_path: 'image' });
  });

  test('drawn too', async () => {
    const { body } = await sendForm(service.url, 'turned.jpg', { annotate: 'true' });
    const drawn = await fetch(service.url + body.annotated_url);
    const { width, height } = await sharp(await drawn.arrayBuffer()).metadata();
    const shown = await sharp(PICTURE).metadata();
    expect([width, height]).toEqual([shown.width, shown.height]);
  });
});

test.each(['text.jpg', 'cut.png', 'empty.jpg', 'wide.png'])(
  '%s fails as the file does',
  async (file) => {
    const byPath = await detect(service.url, { image_path: file });
    expect(byPath.status).toBe(422);
    for (const sent of [await send(service.url, read(file)), await sendForm(service.url, file)]) {
      expect([sent.status, sent.body.code]).toEqual([422, byPath.body.code]);
    }
  },
);

test('64 bodies of 20 MB at once: answered or refused, memory is bounded, nothing else is late', async () => {
  const BODIES = 64;
  // A picture with a long tail, which decoders do not read.
  const large = new Uint8Array(20e6);
  large.set(read('turned.jpg'));
  const memory = (name: string) => {
    const status = readFileSync(`/proc/${service.pid}/status`, 'utf8');
    return Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
  };
  const before = memory('VmRSS');
  let over = false;
  const probes = (async () => {
    let rounds = 0;
    while (!over) {
      const answers = [
        await call(service.url, '/healthz'),
        await sendForm(service.url, 'plain.png'),
      ];
      rounds += 1;
      expect(answers[0]?.status).toBe(200);
      // The large ones may hold the whole budget.
      expect([200, 503]).toContain(answers[1]?.status);
      await sleep(20);
    }
    return rounds;
  })();
  const answers = await Promise.all(Array.from({ length: BODIES }, () => sendLarge(large)));
  over = true;
  expect(await probes).toBeGreaterThan(0);
  const answered = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(answered.length).toBeGreaterThanOrEqual(4);
  for (const { body } of answered) expectVehicles(body.detections);
  for (const { status, retryAfter, body } of refused) {
    expect([status, body.code]).toEqual([503, 'overloaded']);
    expect(retryAfter).toBeGreaterThanOrEqual(1);
  }
  const grown = memory('VmHWM') - before;
  // The budget of 256 MiB, what the sockets hold, and what the allocator keeps.
  expect(grown).toBeLessThan(600 * MEBIBYTE);
  expect((await send(service.url, large)).status).toBe(200);
});

test('worker processes take pictures that are sent', async () => {
  await using workers = await startService({
    env: {
      LATTICE_GPUS: 'cpu,cpu',
      LATTICE_IMAGE_ROOTS: `${DEMO}:${folder}`,
      LATTICE_COMPAT: 'deepstack',
    },
  });
  await workersReady(workers, 2);
  const byPath = await detect(workers.url, { image_path: 'turned.jpg' });
  const large = new Uint8Array(10e6);
  large.set(read('turned.jpg'));
  const answers = await Promise.all([
    ...Array.from({ length: 6 }, () => send(workers.url, large)),
    ...Array.from({ length: 6 }, () => sendForm(workers.url, 'turned.jpg')),
  ]);
  for (const { status, body } of answers) {
    expect(status).toBe(200);
    expect(body.detections).toEqual(byPath.body.detections);
  }
  expect((await send(workers.url, read('cut.png'))).body.code).toBe('invalid_image');

  const form = new FormData();
  form.append('image', new Blob([read('turned.jpg')]));
  form.append('min_confidence', '0.5');
  const vision = await call(workers.url, '/v1/vision/detection', { method: 'POST', body: form });
  const { predictions } = JSON.parse(vision.text) as { predictions: Record<string, unknown>[] };
  expect(predictions.map(({ label, confidence, x_min }) => [label, confidence, x_min])).toEqual(
    byPath.body.detections.map((each) => [
      each.class.toLowerCase(),
      each.confidence,
      Math.round(each.box[0]),
    ]),
  );
});
