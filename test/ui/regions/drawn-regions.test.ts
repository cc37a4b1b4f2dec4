import fc from 'fast-check';
import { expect, test } from 'vitest';
import { regionsSchema } from '../../../src/api/schemas/option-schemas.js';
import type { Region } from '../../../src/api/region-rules.js';
import {
  draftFault,
  drawingFaults,
  newRegion,
  steppedBy,
  withCornerAfter,
  withCornerAt,
  withoutCorner,
} from '../../../src/ui/regions/drawn-regions.js';

const SQUARE: Region['polygon'] = [[0.2, 0.2], [0.8, 0.2], [0.8, 0.8], [0.2, 0.8]]; // prettier-ignore
const BOW: Region['polygon'] = [[0.2, 0.2], [0.8, 0.8], [0.8, 0.2], [0.2, 0.8]]; // prettier-ignore

test('what is drawn is wrong exactly where the service refuses it, in its words', () => {
  const share = fc.integer({ min: 0, max: 10 }).map((tenths) => tenths / 10);
  const polygon = fc.array(fc.tuple(share, share), { minLength: 3, maxLength: 6 });
  const region = fc.record({ name: fc.constantFrom('', 'a', 'b', 'c'), polygon });
  let refused = 0;
  fc.assert(
    fc.property(fc.array(region, { maxLength: 3 }), (regions) => {
      const said = drawingFaults(regions);
      const issues = regionsSchema.safeParse(regions).error?.issues ?? [];
      expect(said.length > 0).toBe(issues.length > 0);
      const served = issues.map(({ message }) => message);
      for (const { at, message } of said) {
        if (regions[at]!.name !== '') expect(served).toContain(message);
      }
      refused += issues.length > 0 ? 1 : 0;
    }),
    { numRuns: 500 },
  );
  expect(refused).toBeGreaterThan(50);
});

test('a crossing is said of an open polygon of three corners or more', () => {
  expect(draftFault(SQUARE)).toBeNull();
  expect(draftFault(BOW)).toContain('crosses or touches itself');
  expect(draftFault([[0.2, 0.2], [0.8, 0.8]])).toBeNull(); // prettier-ignore
});

test('a new region has a free name, and is one that the service takes', () => {
  const regions = [newRegion([]), newRegion([newRegion([])])];
  expect(regions.map(({ name }) => name)).toEqual(['region 1', 'region 2']);
  expect(regionsSchema.safeParse(regions).success).toBe(true);
});

test('arrow keys move by a hundredth, with Shift by a thousandth, and not out of the picture', () => {
  expect(steppedBy('ArrowRight', false, [0.5, 0.5])).toEqual([0.51, 0.5]);
  expect(steppedBy('ArrowUp', true, [0.5, 0.5])).toEqual([0.5, 0.499]);
  expect(steppedBy('ArrowLeft', false, [0.005, 0.5])).toEqual([0, 0.5]);
  expect(steppedBy('a', false, [0.5, 0.5])).toBeNull();
});

test('corners are moved, added in the middle of a side and removed down to three', () => {
  expect(withCornerAt(SQUARE, 1, [1.4, -2])[1]).toEqual([1, 0]);
  expect(withCornerAfter(SQUARE, 3)).toEqual([...SQUARE, [0.2, 0.5]]);
  const three = withoutCorner(SQUARE, 0);
  expect(three).toEqual(SQUARE.slice(1));
  expect(withoutCorner(three, 0)).toBe(three);
});
