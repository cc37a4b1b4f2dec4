import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Detection } from '../../src/api/schemas/image.js';
import { packFound, unpackFound, type FoundBoxes } from '../../src/boxes/found-boxes.js';
import { detectionsFrom } from '../../src/boxes/raw-detections.js';
import { foundIn } from '../support/found-in.js';

const NAMES = ['car', 'truck', 'größe', ''];
const IMAGE = { width: 65_535, height: 40_000 };

const side = fc.float({ min: 0, max: 40_000, noNaN: true });

/** Boxes as a network gives them: float32, within the picture, highest score first. */
const detections = fc
  .array(
    fc.record({
      corners: fc.tuple(side, side, side, side),
      score: fc.float({ min: 0, max: 1, noNaN: true }),
      id: fc.integer({ min: 0, max: 5 }),
    }),
    { maxLength: 40 },
  )
  .map((boxes) => {
    const rows = boxes
      .sort((a, b) => b.score - a.score)
      .flatMap(({ corners: [a, b, c, d], score, id }) => {
        const [left, right] = [Math.min(a, c), Math.max(a, c)];
        return [left, Math.min(b, d), right, Math.max(b, d), score, id];
      });
    return detectionsFrom(Float32Array.from(rows), NAMES);
  });

const found = fc.record({
  detections,
  floor: fc.integer({ min: 0, max: 1e6 }).map((millionths) => millionths / 1e6),
  isCut: fc.boolean(),
  lacksVehicles: fc.boolean(),
  image: fc.constantFrom(IMAGE, { width: 1, height: 1 }),
});

describe('the boxes of an image in their packed form', () => {
  it('are the same when they are unpacked', () => {
    fc.assert(
      fc.property(found, (boxes) => {
        expect(unpackFound(packFound(boxes))).toEqual(boxes);
      }),
    );
  });

  it('are those above a confidence where one is given', () => {
    fc.assert(
      fc.property(found, fc.float({ min: 0, max: 1, noNaN: true }), (boxes, least) => {
        const above = boxes.detections.filter(({ confidence }) => confidence > least);
        expect(unpackFound(packFound(boxes), least).detections).toEqual(above);
      }),
    );
  });

  it('take about 20 bytes each', () => {
    const packed = packFound(foundIn(IMAGE, [...carsFrom(0.9, 60)]));
    expect(packed.length).toBeLessThan(60 * 20 + 20);
  });

  it('are the best 300, and the floor is that of the first that is left out', () => {
    const many = foundIn(IMAGE, carsFrom(0.9, 400), { floor: 0.05 });
    const kept = unpackFound(packFound(many));
    expect(kept.detections).toEqual(many.detections.slice(0, 300));
    expect(kept).toMatchObject({ isCut: true, floor: many.detections[300]?.confidence });
    const few: FoundBoxes = { ...many, detections: many.detections.slice(0, 300) };
    expect(unpackFound(packFound(few))).toEqual(few);
  });

  it('of another form or cut off are refused', () => {
    const packed = packFound(foundIn(IMAGE, carsFrom(0.9, 3)));
    expect(() => unpackFound(packed.with(0, 99))).toThrow('another form');
    expect(() => unpackFound(packed.subarray(0, packed.length - 1))).toThrow('cut off');
  });
});

function carsFrom(confidence: number, count: number): Detection[] {
  return Array.from({ length: count }, (_, at) => ({
    box: [1000 + at, 500.125, 1300 + at, 640.5],
    confidence: Math.round((confidence - at * 1e-3) * 1e6) / 1e6,
    class: 'car',
  }));
}
