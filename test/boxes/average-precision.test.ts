import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Detection } from '../../src/api/schemas/image.js';
import { meanAveragePrecision, type LabelledBox } from '../../src/boxes/average-precision.js';

const car = (x: number, confidence: number, width = 10): Detection => ({
  box: [x, 0, x + width, 10],
  confidence,
  class: 'car',
});
const label = (x: number, name = 'car'): LabelledBox => ({ box: [x, 0, x + 10, 10], class: name });

/** Labels far apart by picture, and boxes on some of them. */
const pictures = fc
  .array(
    fc.array(
      fc.record({ found: fc.boolean(), confidence: fc.double({ min: 0.1, max: 1, noNaN: true }) }),
      { maxLength: 6 },
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((plan) => ({
    labels: plan.map((places) => places.map((_, at) => label(at * 50))),
    found: plan.map((places) =>
      places.flatMap((place, at) => (place.found ? [car(at * 50, place.confidence)] : [])),
    ),
  }));

describe('mAP50-95', () => {
  it('is null without labels, 0 without boxes and 1 where each label has its box', () => {
    expect(meanAveragePrecision([[car(0, 0.9)]], [[]])).toBeNull();
    expect(meanAveragePrecision([[]], [[label(0)]])).toBe(0);
    expect(meanAveragePrecision([[car(0, 0.9)], [car(50, 0.3)]], [[label(0)], [label(50)]])).toBe(
      1,
    );
  });

  it('takes letter case for no other class', () => {
    expect(meanAveragePrecision([[car(0, 0.9)]], [[label(0, 'Car')]])).toBe(1);
  });

  it('counts a box up to its overlap', () => {
    // 10 of 13.5 wide: IoU 0.74, right at 0.50, 0.55, 0.60, 0.65 and 0.70.
    expect(meanAveragePrecision([[car(0, 0.9, 13.5)]], [[label(0)]])).toBeCloseTo(0.5, 9);
  });

  it('takes the best precision at or beyond each of 101 recalls', () => {
    const labels = [[label(0), label(100)]];
    // Right, wrong, right: precision 1 to recall 0.5 (51 points), then 2/3 (50 points).
    const found = [[car(0, 0.9), car(300, 0.8), car(100, 0.7)]];
    expect(meanAveragePrecision(found, labels)).toBeCloseTo((51 + (50 * 2) / 3) / 101, 9);
  });

  it('takes a second box on a label as wrong, and a box of another picture or class, too', () => {
    const labels = [[label(0), label(100)], [label(200, 'bus')]];
    const half = 51 / 101;
    expect(meanAveragePrecision([[car(0, 0.9), car(0, 0.8)], []], labels)).toBeCloseTo(half / 2, 9);
    expect(meanAveragePrecision([[car(0, 0.9)], [car(100, 0.8)]], labels)).toBeCloseTo(half / 2, 9);
    expect(meanAveragePrecision([[car(0, 0.9), car(200, 0.8)], []], labels)).toBeCloseTo(
      half / 2,
      9,
    );
  });

  it('leaves out labels that do not count, and the boxes on them and of their size', () => {
    const narrow = ([left, , right]: readonly number[]) => (right ?? 0) - (left ?? 0) < 15;
    const wide: LabelledBox = { box: [300, 0, 340, 10], class: 'car' };
    const labels = [[label(0), wide]];
    // On the wide label, beside everything but wide: neither is wrong. A narrow one beside everything is.
    const found = [[car(300, 0.9, 40), car(500, 0.8, 40), car(0, 0.7)]];
    expect(meanAveragePrecision(found, labels, [0.5], narrow)).toBe(1);
    const wrong = [[car(500, 0.8), car(0, 0.7)]];
    expect(meanAveragePrecision(wrong, labels, [0.5], narrow)).toBeCloseTo(0.5, 9);
    expect(meanAveragePrecision(found, [[wide]], [0.5], narrow)).toBeNull();
  });

  it('is the share of labels that are found where nothing else is, to one recall point', () => {
    fc.assert(
      fc.property(pictures, ({ labels, found }) => {
        const [all, right] = [labels, found].map((each) => each.flat().length) as [number, number];
        // Recall 0 is one of the points.
        const points = right === 0 ? 0 : Math.floor((right / all) * 100 + 1e-9) + 1;
        const map = meanAveragePrecision(found, labels);
        if (all === 0) expect(map).toBeNull();
        else expect(map).toBeCloseTo(points / 101, 9);
      }),
    );
  });

  it('does not change with false boxes below all others, nor with the order of the boxes', () => {
    fc.assert(
      fc.property(pictures, ({ labels, found }) => {
        const more = found.map((boxes) => [car(900, 0.05), ...boxes.toReversed()]);
        const one = meanAveragePrecision(found, labels);
        const other = meanAveragePrecision(more, labels);
        if (one === null) expect(other).toBeNull();
        else expect(other).toBeCloseTo(one, 9);
      }),
    );
  });
});
