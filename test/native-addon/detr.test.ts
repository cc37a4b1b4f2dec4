/**
 * Networks that end as RT-DETR, whose pictures are stretched: boxes are shares of the picture, whatever its
 * proportions.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { NativeModel } from '../../src/native/contract.js';
import { readInKnownLayout, type Core, type RawResult } from '../../src/native/core.js';
import { detrFile } from '../support/detr-model.js';
import { openTestCore, taskFor } from './open-test-core.js';

const BOXES = [
  { place: [0.5, 0.25, 0.5, 0.25], scores: [0.9, 0.1] },
  { place: [0.25, 0.75, 0.25, 0.5], scores: [0.6, 0.7] },
  { place: [0.5, 0.5, 0.9, 0.9], scores: [0.02, 0.01] },
] as const;

let folder: string;
let path: string;
let core: Core;
let model: NativeModel;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-detr-'));
  path = join(folder, 'detr.onnx');
  writeFileSync(path, detrFile({ boxes: BOXES }));
  ({ core, model } = await openTestCore({ precision: 'auto' }, path));
});
afterAll(async () => {
  await core.close();
  rmSync(folder, { recursive: true });
});

interface Found {
  box: number[];
  score: number;
  classId: number;
}

function foundIn({ boxes, width, height }: RawResult): Found[] {
  return Array.from({ length: boxes.length / 6 }, (_, index) => {
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0, score = 0, classId = 0] = boxes.subarray(6 * index);
    return { box: [x1 / width, y1 / height, x2 / width, y2 / height], score, classId };
  });
}

const near = ({ box, score, classId }: Found) => ({
  box: box.map((share) => expect.closeTo(share, 4) as number),
  score: expect.closeTo(score, 4) as number,
  classId,
});

it('gives every class of a query that passes, best first, in pixels of the picture', async () => {
  const result = await core.run(taskFor(model));
  expect(result.width).not.toBe(result.height);
  expect(foundIn(result)).toEqual([
    near({ box: [0.25, 0.125, 0.75, 0.375], score: 0.9, classId: 0 }),
    near({ box: [0.125, 0.5, 0.375, 1], score: 0.7, classId: 1 }),
    near({ box: [0.125, 0.5, 0.375, 1], score: 0.6, classId: 0 }),
  ]);
});

it('keeps no more pairs than it has queries, as the reference does', async () => {
  const result = await core.run(taskFor(model, { confidence: 0 }));
  expect(foundIn(result).map(({ score }) => score)).toEqual([
    expect.closeTo(0.9, 4),
    expect.closeTo(0.7, 4),
    expect.closeTo(0.6, 4),
  ]);
});

it('stretches the whole picture and each tile', async () => {
  const tiles = { columns: 2, rows: 1, overlap: 0 };
  const result = await core.run(taskFor(model, { confidence: 0.8, tiles }));
  expect(foundIn(result)).toEqual([
    near({ box: [0.25, 0.125, 0.75, 0.375], score: 0.9, classId: 0 }),
    near({ box: [0.125, 0.125, 0.375, 0.375], score: 0.9, classId: 0 }),
    near({ box: [0.625, 0.125, 0.875, 0.375], score: 0.9, classId: 0 }),
  ]);
});

it('is the same network when it comes from the cache', async () => {
  const expected = foundIn(await core.run(taskFor(model)));
  const engineCache = join(folder, 'cache');
  for (const from of ['the file', 'the cache']) {
    const other = await openTestCore({ precision: 'auto', engineCache }, path);
    const found = foundIn(await other.core.run(taskFor(other.model)));
    await other.core.close();
    expect(readdirSync(engineCache).some((name) => name.endsWith('.network'))).toBe(true);
    expect(found, from).toEqual(expected);
    expect(other.model.precision).toBe('f32');
  }
});

it('gives the same boxes from a file in the layout that engines read', async () => {
  const expected = foundIn(await core.run(taskFor(model)));
  const saved = join(folder, 'saved.onnx');
  writeFileSync(saved, await readInKnownLayout(path));
  const other = await openTestCore({ precision: 'auto' }, saved);
  const found = foundIn(await other.core.run(taskFor(other.model)));
  await other.core.close();
  expect(found).toEqual(expected);
  expect(other.model).toMatchObject({ layout: 'final', precision: 'f32' });
  expect(await readInKnownLayout(saved)).toEqual(readFileSync(saved));
});

it('runs in f32, whatever the machine offers, and at its own input only', () => {
  expect(model).toMatchObject({
    layout: 'final',
    precision: 'f32',
    inputWidth: 64,
    inputHeight: 64,
    rectangles: [],
  });
});
