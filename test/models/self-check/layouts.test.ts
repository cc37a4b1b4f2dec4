/**
 * Exports of every layout, through the real addon: what is none of ours is refused with a sentence that says what it
 * is.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { examineModel } from '../../../src/models/model-examination.js';
import { detrFile } from '../../support/detr-model.js';
import {
  CELLS,
  centreAndSize,
  corners,
  layoutFile,
  placeOf,
  type LayoutOptions,
} from '../../support/layout-models.js';

const SIDE = 640;
const GREY = { data: new Uint8Array(3 * 64 * 48).fill(114), width: 64, height: 48 };
const logit = (score: number) => Math.log(score / (1 - score));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-layouts-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const examined = (options: LayoutOptions) => examinedFile(layoutFile(options));

function examinedFile(file: Buffer) {
  const path = join(folder, 'm.onnx');
  writeFileSync(path, file);
  return examineModel(path, { threads: 1, pictures: [GREY] });
}

/** A row per side and per class, a column per anchor. */
const anchorsLast = (
  names: LayoutOptions['names'],
  score: (anchor: number) => number,
  pixel = 1,
): LayoutOptions => ({
  names,
  rows: 4 + names.length,
  columns: CELLS,
  at: (row, anchor) => (row < 4 ? pixel * centreAndSize(anchor, row) : score(anchor)),
});

/** A row per box, of those that the network keeps. */
const kept = (
  names: readonly string[],
  at: (row: number, column: number) => number,
): LayoutOptions => ({
  names,
  rows: 1_000,
  columns: 6,
  at,
  kept: { rows: 300, by: 4 },
});

const ofCorners = (row: number, column: number) => {
  if (column < 4) return corners(row, column);
  return column === 4 ? placeOf(row).score : row % 2;
};
const scoreOf = (row: number) => placeOf(row).score;

describe('a layout of ours is taken', () => {
  it.each([
    ['anchors last', anchorsLast(['car', 'bus'], scoreOf), 'rows'],
    ['anchors last, of one class', anchorsLast(['car'], scoreOf), 'rows'],
    ['boxes that the network chose', kept(['car', 'bus'], ofCorners), 'final'],
    [
      'boxes that the network chose, filled up with zeros',
      kept(['car', 'bus'], (row, column) => (row % 100 === 0 ? ofCorners(row, column) : 0)),
      'final',
    ],
    ['no box that the network chose', kept(['car', 'bus'], () => 0), 'final'],
    [
      'boxes that the network chose, some of no size at all',
      kept(['car', 'bus'], (row, column) =>
        row % 3 === 0 && column === 2 ? 0 : ofCorners(row, column),
      ),
      'final',
    ],
  ] as const)('%s', async (_, options, layout) => {
    const { model } = await examined(options);
    expect(model.layout).toBe(layout);
  });
});

describe('RT-DETR with logits and boxes', () => {
  const boxes = Array.from({ length: 20 }, (_, row) => {
    const { centre, size, score } = placeOf(100 * row);
    const [x, y] = centre;
    return {
      place: [x / SIDE, y / SIDE, size / SIDE, size / SIDE],
      scores: [score, 0.1],
    } as const;
  });

  it('is taken, and runs in f32 alone', async () => {
    const { model, runs, agreement } = await examinedFile(detrFile({ boxes }));
    expect(model.layout).toBe('final');
    expect(runs.map(({ precision }) => precision)).toEqual(['f32']);
    expect(agreement).toBeNull();
  });

  it.each([
    ['of fewer names than classes', { names: ['car'] }, /a name for each class/],
    ['of a backbone for pixels less a mean', { kernel: 7 }, /RT-DETR and D-FINE are read/],
  ])('%s is refused', async (_, options, sentence) => {
    await expect(examinedFile(detrFile({ boxes, ...options }))).rejects.toMatchObject({
      code: 'invalid_model',
      message: expect.stringMatching(sentence) as string,
    });
  });
});

describe('another layout is refused with what it looks like', () => {
  /** x, y, w, h, objectness, score. */
  const withObjectness = (rows: number): LayoutOptions => ({
    names: ['car'],
    rows,
    columns: 6,
    at: (row, column) => (column < 4 ? centreAndSize(row, column) : scoreOf(row)),
  });

  it.each<[string, LayoutOptions, RegExp]>([
    ['YOLOv5 or v7 of one class', withObjectness(3 * CELLS), /fifth column .*\(v5, v7\).*yolov5nu/],
    ['YOLOX of one class', withObjectness(CELLS), /YOLOX, which is read in one form only/],
    [
      'YOLOX of three classes',
      { ...withObjectness(CELLS), names: ['a', 'b', 'c'], columns: 8 },
      /YOLOX, which is read in one form only/,
    ],
    [
      'a transposed export of two classes',
      {
        names: ['car', 'bus'],
        rows: CELLS,
        columns: 6,
        at: (row, column) => (column < 4 ? centreAndSize(row, column) : scoreOf(row)),
      },
      /swapped: export it without a transpose/,
    ],
    [
      'RT-DETR with corners as shares',
      kept(['car', 'bus'], (row, column) => ofCorners(row, column) / (column < 4 ? SIDE : 1)),
      /boxes lie between 0 and 1.*RT-DETR/,
    ],
    [
      'RT-DETR of two classes',
      kept(['car', 'bus'], (row, column) =>
        column < 4 ? centreAndSize(row, column) / SIDE : scoreOf(row) / (column - 3),
      ),
      /no number of a class.*RT-DETR/,
    ],
    [
      'two scores behind each chosen box',
      kept(['car', 'bus'], (row, column) =>
        column < 4 ? centreAndSize(row, column) : scoreOf(row) / (column - 3),
      ),
      /no number of a class.*score per class/,
    ],
    [
      'chosen boxes of centre and size',
      kept(['car', 'bus'], (row, column) =>
        column < 4 ? centreAndSize(row, column) : ofCorners(row, column),
      ),
      /end before they start.*centre and size/,
    ],
    [
      'chosen boxes with scores times 100',
      kept(['car', 'bus'], (row, column) => ofCorners(row, column) * (column === 4 ? 100 : 1)),
      /scores go from 0\.1 to 90, .*percentages/,
    ],
    [
      'chosen boxes with logits',
      kept(['car', 'bus'], (row, column) =>
        column === 4 ? logit(scoreOf(row)) : ofCorners(row, column),
      ),
      /scores go from -6\.91 to 2\.2, .*logits/,
    ],
    [
      'chosen boxes of classes without a name',
      kept(['car'], ofCorners),
      /class number 1, and the file names 1 classes.*--names/,
    ],
    [
      'anchors last with scores times 100',
      anchorsLast(['car', 'bus'], (anchor) => 100 * scoreOf(anchor)),
      /percentages/,
    ],
    [
      'anchors last with logits',
      anchorsLast(['car', 'bus'], (anchor) => logit(scoreOf(anchor))),
      /logits/,
    ],
    [
      'anchors last with boxes as shares',
      anchorsLast(['car', 'bus'], scoreOf, 1 / SIDE),
      /boxes lie between 0 and 1/,
    ],
    [
      'anchors last with negative sizes',
      { ...anchorsLast(['car'], scoreOf), at: (row) => (row < 2 ? 300 : row < 4 ? -20 : 0.5) },
      /negative size/,
    ],
  ])('%s', async (_, options, sentence) => {
    await expect(examined(options)).rejects.toMatchObject({
      code: 'invalid_model',
      message: expect.stringMatching(sentence) as string,
    });
  });
});
