/**
 * JPEGs with holes: an answer has the boxes of the rows that are left, or it says that the picture is damaged.
 * LATTICE_DAMAGES=1000 tries so many damages, and prints how they ended.
 */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LatticeError } from '../../src/api/errors.js';
import type { NativeModel } from '../../src/native/contract.js';
import { decodeImage, type Core, type RawResult } from '../../src/native/core.js';
import { randomNumbers } from '../support/random-numbers.js';
import { openTestCore, ROOT, sharedData, taskFor } from './open-test-core.js';

const DAMAGES = Number(process.env.LATTICE_DAMAGES ?? 120);
const PRINTS = process.env.LATTICE_DAMAGES !== undefined;
const SEED = 36;
const END = Buffer.from([0xff, 0xd9]);
const LIMITS = { maxPixels: 64_000_000, maxSide: 16_384 };
const REFUSALS = ['invalid_image', 'unsupported_image_format', 'image_too_large'];

interface Photo {
  name: string;
  bytes: Buffer;
  /** Pixels of each row, to find those that a damage changed. */
  rows: Buffer[];
  result: RawResult;
}

let core: Core;
let model: NativeModel;
let photos: Photo[];

const detect = (bytes: Buffer) => core.run(taskFor(model, { path: null, bytes }));

beforeAll(async () => {
  ({ core, model } = await openTestCore({}, join(ROOT, 'models', 'vehicles-v8n.onnx')));
  // The last of them has restart markers.
  const files = ['street.jpg', 'crossing.jpg'].map((name) => join(ROOT, 'models', 'demo', name));
  const shared = sharedData();
  if (shared !== null) files.push(join(shared, 'images', 'bus.jpg'));
  photos = [];
  for (const file of files) {
    const bytes = readFileSync(file);
    const progressive = await sharp(bytes).jpeg({ progressive: true, quality: 90 }).toBuffer();
    const usual = await sharp(bytes).jpeg({ optimiseCoding: false, quality: 90 }).toBuffer();
    const kinds = { baseline: bytes, progressive, 'without tables': withoutTables(usual) };
    for (const [kind, coded] of Object.entries(kinds)) {
      const result = await detect(coded);
      photos.push({
        name: `${kind} ${basename(file)}`,
        bytes: coded,
        rows: await rowsOf(coded),
        result,
      });
    }
  }
});
afterAll(() => core.close());

/** A frame of Motion JPEG leaves the usual Huffman tables out. */
function withoutTables(jpeg: Buffer): Buffer {
  const kept = [jpeg.subarray(0, 2)];
  let at = 2;
  for (let marker = 0; marker !== 0xda;) {
    marker = jpeg[at + 1]!;
    const end = at + 2 + jpeg.readUInt16BE(at + 2);
    if (marker !== 0xc4) kept.push(jpeg.subarray(at, end));
    at = end;
  }
  return Buffer.concat([...kept, jpeg.subarray(at)]);
}

async function rowsOf(bytes: Buffer): Promise<Buffer[]> {
  const { data, width, height } = await decodeImage(bytes, LIMITS);
  return Array.from({ length: height }, (_, y) =>
    data.subarray(3 * width * y, 3 * width * (y + 1)),
  );
}

/** Whole numbers below a limit. */
function randomFrom(seed: number): (below: number) => number {
  const next = randomNumbers(seed);
  return (below) => (next() * 2 ** 32) % below;
}

function damaged(whole: Buffer, random: (below: number) => number): { bytes: Buffer; how: string } {
  const at = 2 + random(whole.length - 4);
  const kind = random(6);
  if (kind === 0) return { bytes: whole.subarray(0, at), how: `cut at ${at}` };
  if (kind === 1) {
    return { bytes: Buffer.concat([whole.subarray(0, at), END]), how: `ended at ${at}` };
  }
  const length = Math.min(2 ** random(12), whole.length - 2 - at);
  const bytes = Buffer.from(whole);
  const value = [0xff, 0, random(256)][kind - 2];
  for (let i = at; i < at + length; i += 1) bytes[i] = value ?? random(256);
  return { bytes, how: `${length} bytes of ${value ?? 'noise'} at ${at}` };
}

const boxesOf = ({ boxes }: RawResult) =>
  Array.from({ length: boxes.length / 6 }, (_, i) => [...boxes.subarray(6 * i, 6 * i + 6)]);

function overlap(a: number[], b: number[]): number {
  const side = (low: number) =>
    Math.max(0, Math.min(a[low + 2]!, b[low + 2]!) - Math.max(a[low]!, b[low]!));
  const area = (box: number[]) => (box[2]! - box[0]!) * (box[3]! - box[1]!);
  const shared = side(0) * side(1);
  return shared / (area(a) + area(b) - shared);
}

/** Boxes that are sure, and lie in rows that the damage left alone, but that the other result has not. */
function lost(from: RawResult, other: RawResult, isLeft: (row: number) => boolean): number {
  const others = boxesOf(other);
  return boxesOf(from).filter((box) => {
    const rows = Array.from({ length: Math.ceil(box[3]!) - Math.floor(box[1]!) }, (_, i) =>
      isLeft(Math.floor(box[1]!) + i),
    );
    return box[4]! >= 0.5 && rows.every(Boolean) && !others.some((one) => overlap(one, box) >= 0.7);
  }).length;
}

describe('a JPEG that is whole', () => {
  const asWhole: [string, (whole: Buffer) => Buffer[]][] = [
    ['without its end marker', (whole) => [whole.subarray(0, -2)]],
    ['with bytes behind it', (whole) => [whole, Buffer.from('trailing')]],
    ['with zeros in place of its end marker', (whole) => [whole.subarray(0, -2), Buffer.alloc(99)]],
    ['with two zeros too many', (whole) => [whole.subarray(0, -2), Buffer.alloc(2), END]],
    ['with padding', (whole) => [whole.subarray(0, -2), Buffer.alloc(512), END]],
    ['before another one', (whole) => [whole.subarray(0, -2), whole]],
  ];
  it.each(asWhole)('%s has the same boxes', async (_how, variant) => {
    for (const { bytes, result, name } of photos) {
      const again = await detect(Buffer.concat(variant(bytes)));
      expect(again.boxes, name).toEqual(result.boxes);
    }
  });
});

describe('a JPEG that is damaged', () => {
  const cases: [string, (whole: Buffer) => Buffer[]][] = [
    ['half of it', (whole) => [whole.subarray(0, whole.length / 2)]],
    ['half of it and an end marker', (whole) => [whole.subarray(0, whole.length / 2), END]],
    ['its start and an end marker', (whole) => [whole.subarray(0, 700), END]],
    [
      'a hole in the middle',
      (whole) => [
        whole.subarray(0, whole.length / 2),
        Buffer.alloc(16, 0xff),
        whole.subarray(whole.length / 2 + 16),
      ],
    ],
  ];
  it.each(cases)('%s is refused, with how much can be read', async (_how, variant) => {
    for (const { bytes, name } of photos) {
      const ended = detect(Buffer.concat(variant(bytes)));
      await expect(ended, name).rejects.toMatchObject({ code: 'invalid_image' });
      await expect(ended, name).rejects.toThrow(
        /first \d+ of \d+ rows can be read|before the size/,
      );
    }
  });

  it('anywhere has the boxes of the rows that are left, or is refused', async () => {
    const random = randomFrom(SEED);
    const ends = { refused: 0, unchanged: 0, changed: 0 };
    const wrong: string[] = [];
    for (let i = 0; i < DAMAGES; i += 1) {
      const photo = photos[i % photos.length]!;
      const { bytes, how } = damaged(photo.bytes, random);
      const result = await detect(bytes).catch((error: unknown) => {
        if (error instanceof LatticeError && REFUSALS.includes(error.code)) return null;
        throw error;
      });
      if (result === null) {
        ends.refused += 1;
        continue;
      }
      const rows = await rowsOf(bytes);
      const isLeft = (row: number) => photo.rows[row]?.equals(rows[row] ?? Buffer.alloc(0)) ?? true;
      const left = photo.rows.map((_, row) => isLeft(row));
      const changed = left.filter((each) => !each).length;
      ends[changed > 0 ? 'changed' : 'unchanged'] += 1;
      const missing = lost(photo.result, result, (row) => left[row] ?? true);
      const made = lost(result, photo.result, (row) => left[row] ?? true);
      const any = lost(photo.result, result, () => true) + lost(result, photo.result, () => true);
      if (PRINTS && changed > 0) {
        const warned = await sharp(bytes, { failOn: 'warning' })
          .stats()
          .then(
            () => '',
            () => ', with a warning',
          );
        console.log(
          `${photo.name}, ${how}: ${changed} of ${left.length} rows differ, ${any} boxes${warned}`,
        );
      }
      if (missing + made > 0) wrong.push(`${photo.name}, ${how}: ${missing} lost, ${made} made up`);
    }
    if (PRINTS) console.log({ ...ends, wrong });
    expect(wrong).toEqual([]);
  });
});
