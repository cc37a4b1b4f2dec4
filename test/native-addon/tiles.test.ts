/**
 * Pictures in tiles against a plain reference: it cuts the decoded picture itself, has each part looked at as a picture
 * of its own, and merges the boxes by the rules of `native/tiles`, written anew in the simplest way.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LatticeError } from '../../src/api/errors.js';
import type { Tiles } from '../../src/api/tiles.js';
import type { NativeModel } from '../../src/native/contract.js';
import { decodeImage, type Core, type RawResult } from '../../src/native/core.js';
import { intersectionOverUnion, type Box } from '../../src/boxes/overlap.js';
import { codeOf, openTestCore, ROOT, sharedData, taskFor } from './open-test-core.js';

const CONFIDENCE = 0.05;

interface Part {
  left: number;
  top: number;
  width: number;
  height: number;
}

interface PartBox {
  box: Box;
  score: number;
  classId: number;
  part: number;
}

let core: Core;
let model: NativeModel;
let photos: string[];

beforeAll(async () => {
  ({ core, model } = await openTestCore(
    { asyncYields: false },
    join(ROOT, 'models', 'vehicles-v8n.onnx'),
  ));
  photos = ['street.jpg', 'crossing.jpg'].map((name) => join(ROOT, 'models', 'demo', name));
  const shared = sharedData();
  if (shared !== null) photos.push(join(shared, 'images', 'cars-1920x1278-progressive.jpg'));
});
afterAll(() => core.close());

/** Evenly spaced tiles of one size after the whole picture. */
function parts(width: number, height: number, columns: number, rows: number, overlap: number) {
  const side = (length: number, count: number) =>
    Math.ceil(length / (count - (count - 1) * overlap));
  const [w, h] = [side(width, columns), side(height, rows)];
  const start = (length: number, own: number, index: number, count: number) =>
    count === 1 ? 0 : Math.round(((length - own) * index) / (count - 1));
  const tiles: Part[] = [{ left: 0, top: 0, width, height }];
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const left = start(width, w, column, columns);
      tiles.push({ left, top: start(height, h, row, rows), width: w, height: h });
    }
  }
  return tiles;
}

function cut(data: Buffer, width: number, part: Part): Buffer {
  const rows = Array.from({ length: part.height }, (_, y) => {
    const at = 3 * ((part.top + y) * width + part.left);
    return data.subarray(at, at + 3 * part.width);
  });
  return Buffer.concat(rows);
}

const rowsOf = ({ boxes }: RawResult) =>
  Array.from({ length: boxes.length / 6 }, (_, i) => [...boxes.subarray(6 * i, 6 * i + 6)]);

const area = ([left, top, right, bottom]: Box) => (right - left) * (bottom - top);

function sharedArea(a: Box, b: Box): number {
  const width = Math.min(a[2], b[2]) - Math.max(a[0], b[0]);
  const height = Math.min(a[3], b[3]) - Math.max(a[1], b[1]);
  return Math.max(0, width) * Math.max(0, height);
}

function merged(found: PartBox[]): PartBox[] {
  const kept: PartBox[] = [];
  for (const next of [...found].sort((a, b) => b.score - a.score)) {
    const isAgain = kept.some(
      (better) =>
        better.classId === next.classId &&
        (intersectionOverUnion(better.box, next.box) > 0.5 ||
          (better.part !== next.part &&
            area(next.box) <= area(better.box) &&
            sharedArea(better.box, next.box) > 0.8 * area(next.box))),
    );
    if (!isAgain) kept.push(next);
  }
  return kept;
}

async function reference(file: string, columns: number, rows: number, overlap: number) {
  const { data, width, height } = await decodeImage(readFileSync(file), {
    maxPixels: 1e9,
    maxSide: 1e5,
  });
  const found: PartBox[] = [];
  for (const [index, part] of parts(width, height, columns, rows, overlap).entries()) {
    const pixels = { data: cut(data, width, part), width: part.width, height: part.height };
    const result = await core.run(taskFor(model, { path: null, pixels, confidence: CONFIDENCE }));
    const near = Math.max(2, Math.max(part.width, part.height) / 80);
    for (const [x1 = 0, y1 = 0, x2 = 0, y2 = 0, score = 0, classId = 0] of rowsOf(result)) {
      const isPiece =
        (part.left > 0 && x1 <= near) ||
        (part.top > 0 && y1 <= near) ||
        (part.left + part.width < width && x2 >= part.width - near) ||
        (part.top + part.height < height && y2 >= part.height - near);
      if (isPiece) continue;
      const { left, top } = part;
      const box: Box = [x1 + left, y1 + top, x2 + left, y2 + top];
      const isConfirmed = found.some(
        (whole) =>
          whole.part === 0 &&
          whole.classId === classId &&
          intersectionOverUnion(whole.box, box) > 0.3,
      );
      const isLarge = index > 0 && area(box) > 0.5 * part.width * part.height;
      if (isLarge && !isConfirmed) continue;
      found.push({ box, score, classId, part: index });
    }
  }
  return merged(found);
}

const tiled = (file: string, tiles: Tiles, kind: 'sync' | 'async' = 'sync') =>
  core.run(
    taskFor(model, { path: null, bytes: readFileSync(file), confidence: CONFIDENCE, tiles, kind }),
  );

describe('the boxes are those of the reference', () => {
  it.each([
    [2, 2, 0.2],
    [3, 3, 0.2],
    [3, 1, 0.4],
    [1, 2, 0],
  ])('%i x %i tiles that overlap by %f', async (columns, rows, overlap) => {
    for (const photo of photos) {
      const expected = await reference(photo, columns, rows, overlap);
      const result = await tiled(photo, { columns, rows, overlap });
      expect(result.tiles).toMatchObject({ columns, rows });
      const boxes = rowsOf(result);
      expect(boxes).toHaveLength(expected.length);
      for (const [index, { box, score, classId }] of expected.entries()) {
        const row = boxes[index] ?? [];
        expect(row[5]).toBe(classId);
        expect(row[4]).toBeCloseTo(score, 5);
        for (const side of [0, 1, 2, 3]) expect(row[side]).toBeCloseTo(box[side] ?? NaN, 1);
      }
    }
  });
});

it('are the same whatever else runs', async () => {
  const photo = photos[0] ?? '';
  const tiles: Tiles = { columns: 2, rows: 2, overlap: 0.2 };
  const alone = await tiled(photo, tiles);
  const together = await Promise.all([
    ...Array.from({ length: 4 }, () => tiled(photo, tiles)),
    ...Array.from({ length: 4 }, () => tiled(photo, tiles, 'async')),
    tiled(photo, 'off'),
  ]);
  for (const result of together.slice(0, -1)) expect(result.boxes).toEqual(alone.boxes);
});

it('by its size a small picture stays whole, with the boxes that it has without tiles', async () => {
  const photo = join(ROOT, 'models', 'demo', 'shapes.png');
  const result = await tiled(photo, 'auto');
  expect(result.tiles).toBeNull();
  expect(result.boxes).toEqual((await tiled(photo, 'off')).boxes);
});

it('turns as EXIF says before it cuts', async () => {
  const sharp = (await import('sharp')).default;
  const [photo = ''] = photos;
  const upright = await sharp(readFileSync(photo)).jpeg({ quality: 95 }).toBuffer();
  const { width, height } = await sharp(upright).metadata();
  const turned = await sharp(upright).withMetadata({ orientation: 6 }).toBuffer();
  const tiles: Tiles = { columns: 3, rows: 1, overlap: 0.2 };
  const bytes = taskFor(model, { path: null, bytes: turned, tiles });
  const result = await core.run(bytes);
  expect(result).toMatchObject({ width: height, height: width });
  expect(result.tiles?.height).toBe(width);
});

it.each([
  ['many', 'tiles'],
  [{ columns: 65, rows: 1, overlap: 0 }, 'columns'],
  [{ columns: 9, rows: 8, overlap: 0 }, 'rows'],
  [{ columns: 2, overlap: 0 }, 'rows'],
  [{ size: 64, overlap: 0.6 }, 'overlap'],
  [null, 'task.tiles'],
])('a task with tiles %o is refused', async (tiles, name) => {
  const task = taskFor(model, { tiles: tiles as Tiles });
  await expect(core.run(task)).rejects.toThrow(name);
});

it('a deadline ends the picture with all its tiles', async () => {
  const run = core.run(
    taskFor(model, { tiles: { columns: 8, rows: 8, overlap: 0 }, deadlineMs: 1 }),
  );
  const [end] = await Promise.allSettled([run]);
  expect(codeOf(end)).toBe('deadline_exceeded');
  await expect(core.run(taskFor(model))).resolves.toBeDefined();
});

it('a damaged picture is refused as it is without tiles', async () => {
  const bytes = readFileSync(photos[0] ?? '').subarray(0, 900);
  await expect(
    core.run(taskFor(model, { path: null, bytes, tiles: { columns: 2, rows: 2, overlap: 0 } })),
  ).rejects.toThrow(LatticeError);
});
