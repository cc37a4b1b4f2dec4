import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Detection } from '../../src/api/schemas/image.js';
import { intersectionOverUnion } from '../../src/boxes/overlap.js';
import { isOneClass, ONE_PLACE, pairBoxes, type PairingRule } from '../../src/boxes/pairing.js';

const box = (name: string, x: number, confidence = 0.8): Detection => ({
  class: name,
  confidence,
  box: [x, 0, x + 100, 100],
});

/** As between an engine and f32. */
const STRICT: PairingRule = { overlap: 0.9, oneClass: true, scoreGap: 0.05 };
const rules = fc.constantFrom(ONE_PLACE, STRICT, { ...ONE_PLACE, oneClass: true });

/** Few places and confidences, so that boxes often tie. */
const tying = listsOf(
  fc.integer({ min: 0, max: 40 }).map((step) => 4 * step),
  fc.constantFrom(0.5, 0.52, 0.9),
);
/** No two of them overlap a third one alike. */
const apart = listsOf(
  fc.double({ min: 0, max: 300, noNaN: true }).map((place) => place + Math.SQRT2),
  fc.double({ min: 0.1, max: 1, noNaN: true }),
);

function listsOf(place: fc.Arbitrary<number>, confidence: fc.Arbitrary<number>) {
  return fc
    .array(fc.tuple(fc.constantFrom('car', 'Car', 'bus'), place, confidence), { maxLength: 12 })
    .map((boxes) => boxes.map(([name, x, score]) => box(name, x, score)));
}

const keys = (pairs: { before: unknown; after: unknown }[]) =>
  pairs.map(({ before, after }) => JSON.stringify([before, after])).sort();

test('each box of both lists is in one pair, and partners fit the rule', () => {
  fc.assert(
    fc.property(tying, tying, rules, (first, second, rule) => {
      const pairs = pairBoxes(first, second, rule);
      expect(pairs.flatMap(({ before }) => before ?? [])).toEqual(first);
      const afters = pairs.flatMap(({ after }) => after ?? []);
      expect(afters).toHaveLength(second.length);
      expect(new Set(afters)).toEqual(new Set(second));
      for (const { before, after } of pairs) {
        if (before === null || after === null) continue;
        expect(intersectionOverUnion(before.box, after.box)).toBeGreaterThanOrEqual(rule.overlap);
        expect(Math.abs(before.confidence - after.confidence)).toBeLessThanOrEqual(rule.scoreGap);
        expect(rule.oneClass && !isOneClass(before, after)).toBe(false);
      }
    }),
  );
});

test('no two boxes are left without a partner that might have been each other', () => {
  fc.assert(
    fc.property(tying, tying, (first, second) => {
      const pairs = pairBoxes(first, second);
      const lost = pairs.flatMap(({ before, after }) => (after === null ? (before ?? []) : []));
      const gained = pairs.flatMap(({ before, after }) => (before === null ? (after ?? []) : []));
      for (const one of lost)
        for (const other of gained)
          expect(intersectionOverUnion(one.box, other.box)).toBeLessThan(ONE_PLACE.overlap);
    }),
  );
});

test('swapped lists give the same pairs', () => {
  fc.assert(
    fc.property(tying, tying, rules, (first, second, rule) => {
      const swapped = pairBoxes(second, first, rule).map(({ before, after }) => ({
        before: after,
        after: before,
      }));
      expect(keys(swapped)).toEqual(keys(pairBoxes(first, second, rule)));
    }),
    { numRuns: 1_000 },
  );
});

test('a list is paired with itself box by box', () => {
  fc.assert(
    fc.property(tying, rules, (boxes, rule) => {
      const pairs = pairBoxes(boxes, boxes, rule);
      expect(pairs.map(({ before }) => before)).toEqual(boxes);
      // Two boxes in one place may be each other's partner.
      for (const { before, after } of pairs) expect(after?.box).toEqual(before?.box);
    }),
  );
});

test('where no overlaps tie the order of the lists says nothing', () => {
  const shuffled = (list: Detection[]) =>
    fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length });
  const lists = fc
    .tuple(apart, apart)
    .filter(([first, second]) => hasNoTies(first, second))
    .chain(([first, second]) =>
      fc.tuple(fc.constant(first), fc.constant(second), shuffled(first), shuffled(second)),
    );
  fc.assert(
    fc.property(lists, rules, ([first, second, mixedFirst, mixedSecond], rule) => {
      expect(keys(pairBoxes(mixedFirst, mixedSecond, rule))).toEqual(
        keys(pairBoxes(first, second, rule)),
      );
    }),
  );
});

function hasNoTies(first: Detection[], second: Detection[]): boolean {
  const overlaps = first
    .flatMap((one) => second.map((other) => intersectionOverUnion(one.box, other.box)))
    .filter((overlap) => overlap > 0);
  return new Set(overlaps).size === overlaps.length;
}

test('a rule of one class and close scores leaves other boxes alone', () => {
  const first = [box('car', 0, 0.9)];
  const partnerOf = (second: Detection[]) => pairBoxes(first, second, STRICT)[0]?.after ?? null;
  expect(partnerOf([box('bus', 0, 0.9)])).toBeNull();
  expect(partnerOf([box('car', 0, 0.84)])).toBeNull();
  expect(partnerOf([box('car', 10, 0.9)])).toBeNull();
  const [far, near] = [box('car', 0, 0.8), box('Car', 5, 0.87)];
  expect(partnerOf([far, near])).toBe(near);
});
