import { describe, expect, it } from 'vitest';
import {
  averagePrecision,
  COCO_OVERLAPS,
  meanAveragePrecision,
  type LabelledPhoto,
} from '../../bench/accuracy/mean-average-precision.js';

type Box = [number, number, number, number];
const A: Box = [0, 0, 10, 10];
const B: Box = [100, 0, 110, 10];
const C: Box = [200, 0, 210, 10];
const NOWHERE: Box = [500, 500, 510, 510];
const car = (confidence: number, box: Box) => ({ class: 'car', confidence, box });
const label = (box: Box, name = 'car') => ({ class: name, box });

describe('average precision of one class', () => {
  it('is 1 when every label is found and nothing else', () => {
    const photos = [{ labels: [label(A), label(B)], found: [car(0.9, A), car(0.8, B)] }];
    expect(averagePrecision(photos, 'car', 0.5)).toBeCloseTo(1, 12);
  });

  it('is 0 when nothing is found', () => {
    expect(averagePrecision([{ labels: [label(A)], found: [] }], 'car', 0.5)).toBe(0);
  });

  it('counts 51 of 101 recall points when one of two labels is found', () => {
    // Precision 1 at recalls 0, 0.01 ... 0.50; nothing beyond.
    const photos = [{ labels: [label(A), label(B)], found: [car(0.9, A)] }];
    expect(averagePrecision(photos, 'car', 0.5)).toBeCloseTo(51 / 101, 12);
  });

  it('gives the hand-computed area for hit, miss, hit of two labels', () => {
    // (recall, precision): (1/2, 1), (1/2, 1/2), (1, 2/3). Envelope: 1 up to 0.50, 2/3 up to 1.
    const photos = [
      { labels: [label(A), label(B)], found: [car(0.9, A), car(0.8, NOWHERE), car(0.7, B)] },
    ];
    expect(averagePrecision(photos, 'car', 0.5)).toBeCloseTo((51 + 50 * (2 / 3)) / 101, 12);
  });

  it('gives the hand-computed area for miss, hit, hit, miss of three labels', () => {
    // (0, 0), (1/3, 1/2), (2/3, 2/3), (2/3, 1/2). Envelope 2/3 up to recall 0.66: points 0 ... 66.
    const photos = [
      {
        labels: [label(A), label(B), label(C)],
        found: [car(0.9, NOWHERE), car(0.8, A), car(0.7, B), car(0.6, NOWHERE)],
      },
    ];
    expect(averagePrecision(photos, 'car', 0.5)).toBeCloseTo((67 * (2 / 3)) / 101, 12);
  });

  it('ranks over all photos by score', () => {
    // The miss in the second photo outranks the hit in the first: precision 1/2 at recall 1.
    const photos = [
      { labels: [label(A)], found: [car(0.5, A)] },
      { labels: [], found: [car(0.9, A)] },
    ];
    expect(averagePrecision(photos, 'car', 0.5)).toBeCloseTo(0.5, 12);
  });

  it('counts a second box on one label as a miss', () => {
    const photos = [{ labels: [label(A)], found: [car(0.9, A), car(0.8, A)] }];
    expect(averagePrecision(photos, 'car', 0.5)).toBeCloseTo(1, 12);
    const worse = [{ labels: [label(A), label(B)], found: [...photos[0]!.found, car(0.7, B)] }];
    expect(averagePrecision(worse, 'car', 0.5)).toBeCloseTo((51 + 50 * (2 / 3)) / 101, 12);
  });

  it('reaches a recall point that is an exact quotient', () => {
    const boxes = Array.from({ length: 10 }, (_unused, i): Box => [20 * i, 0, 20 * i + 10, 10]);
    const photos = [
      { labels: boxes.map((box) => label(box)), found: boxes.slice(0, 3).map((b) => car(0.9, b)) },
    ];
    expect(averagePrecision(photos, 'car', 0.5)).toBeCloseTo(31 / 101, 12);
  });
});

describe('mean average precision', () => {
  it('is the mean over labelled classes only', () => {
    const photos: LabelledPhoto[] = [
      {
        labels: [label(A), label(B, 'bus')],
        found: [car(0.9, A), { class: 'dog', confidence: 0.9, box: NOWHERE }],
      },
    ];
    expect(meanAveragePrecision(photos, [0.5])).toBeCloseTo(0.5, 12);
  });

  it('is the mean over the ten overlaps', () => {
    expect(COCO_OVERLAPS).toEqual([0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]);
    // Width 8 of 10 overlaps by 0.8: found at 0.50 to 0.80, which is 7 of 10.
    const photos = [{ labels: [label(A)], found: [car(0.9, [0, 0, 8, 10])] }];
    expect(meanAveragePrecision(photos, COCO_OVERLAPS)).toBeCloseTo(0.7, 12);
  });
});
