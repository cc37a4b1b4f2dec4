/**
 * The cost of sending a picture of 100 KB in place of its path. One call of each, in turn, over one connection each.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { summarise } from './load/percentiles.js';
import { serve, setting, type Measurement } from './setting.js';

const ROUNDS = 300;
const WARM_UP = 20;
const BYTES = 100_000;
const GOAL_MS = 0.3;
/** As long as that of curl: the parser of forms takes the longer the shorter it is. */
const BOUNDARY = '-'.repeat(24) + 'd74496d66958873e123456';

export default async function sentPicture(): Promise<Measurement[]> {
  const at = setting();
  const folder = mkdtempSync(join(tmpdir(), 'lattice-sent-'));
  const picture = await pictureOf(join(at.imageRoot, at.photos[0]!));
  writeFileSync(join(folder, 'picture.jpg'), picture);
  await using service = await serve({ ...at, imageRoot: folder });
  const json = Buffer.from(JSON.stringify({ image_path: 'picture.jpg' }));
  const kinds = {
    path: caller(service.url, 'application/json', json),
    body: caller(service.url, 'image/jpeg', picture),
    form: caller(service.url, `multipart/form-data; boundary=${BOUNDARY}`, formOf(picture)),
  };
  const times = { path: [] as number[], body: [] as number[], form: [] as number[] };
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    for (const kind of ['path', 'body', 'form'] as const) {
      const ms = await kinds[kind]();
      if (round >= 0) times[kind].push(ms);
    }
  }
  rmSync(folder, { recursive: true });
  const byPath = summarise(times.path).p50;
  return (['body', 'form'] as const).map((kind) => {
    const value = summarise(times[kind]).p50;
    return {
      what: `sync detect, ${picture.length} bytes sent as a ${kind}, 1 client, p50`,
      value,
      unit: 'ms',
      baseline: { what: 'the same file by path, p50', value: byPath },
      ratio: value - byPath,
      goal: `<= ${GOAL_MS} ms more`,
      met: value - byPath <= GOAL_MS,
    };
  });
}

/** A JPEG of this photo with as many bytes: what a JPEG has after its end is not read. */
async function pictureOf(photo: string): Promise<Buffer> {
  const jpeg = await sharp(readFileSync(photo)).jpeg({ quality: 85 }).toBuffer();
  return Buffer.concat([jpeg, Buffer.alloc(Math.max(0, BYTES - jpeg.length))]);
}

function formOf(picture: Buffer): Buffer {
  const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="image"; filename="a.jpg"\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), picture, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
}

/** Sends the same body at each call; resolves with the milliseconds until the answer has come. */
function caller(url: string, type: string, body: Buffer): () => Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { 'content-type': type, 'content-length': body.length };
  return () =>
    new Promise((resolve, reject) => {
      const start = performance.now();
      const sent = request(`${url}/v1/inference/detect`, { method: 'POST', headers, agent });
      sent.on('error', reject).on('response', (response) => {
        response.resume().on('end', () => {
          if (response.statusCode === 200) resolve(performance.now() - start);
          else reject(new Error(`answered ${response.statusCode}`));
        });
      });
      sent.end(body);
    });
}
