/** Descriptors go with their boxes, whatever a question leaves of these. */
import { expect, test } from 'vitest';
import { DEFAULT_PARAMETERS } from '../../src/api/options.js';
import type { Detection } from '../../src/api/schemas/image.js';
import { describedBoxes } from '../../src/boxes/box-descriptors.js';
import { packFound, unpackFound } from '../../src/boxes/found-boxes.js';
import { refineDetections } from '../../src/boxes/refine-detections.js';
import { foundIn } from '../support/found-in.js';

const box = (name: string, confidence: number, left: number): Detection => ({
  box: [left, 10, left + 10, 20],
  confidence,
  class: name,
});
const FOUND = [
  box('person', 0.95, 0),
  box('car', 0.9, 20),
  box('truck', 0.8, 20.5),
  box('bus', 0.7, 60),
  box('car', 0.3, 80),
];
/** Those of the first four boxes: each has its own number in all bytes. */
const PACKED = Uint8Array.from({ length: 4 * 64 }, (_, at) => Math.floor(at / 64));

test('a box that is left, or the better one of two, has its own descriptor', () => {
  const kept = packFound(foundIn({ width: 100, height: 100 }, FOUND));
  const found = unpackFound(kept, 0.25);
  const options = { ...DEFAULT_PARAMETERS, modelName: 'm.pt', confidence: 0.25 };
  const classes = ['car', 'motorcycle', 'bus', 'truck'];
  const { detections } = refineDetections(found, { ...options, classes });
  expect(
    describedBoxes(detections, found.detections, PACKED).map((each) => [
      each.class,
      each.descriptor,
    ]),
  ).toEqual([
    ['car', '01'.repeat(64)],
    ['bus', '03'.repeat(64)],
    ['car', undefined],
  ]);
  expect(describedBoxes(detections, found.detections, null)).toEqual(detections);
});
