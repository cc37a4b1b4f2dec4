import fc from 'fast-check';
import { expect, it } from 'vitest';
import { orderOf, partsOf } from '../../../bench/peers/turns.js';

const sides = fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 9 });

it('every side has every place equally often', () => {
  fc.assert(
    fc.property(sides, (all) => {
      const turns = all.flatMap((_, index) => [
        orderOf(all, 2 * index),
        orderOf(all, 2 * index + 1),
      ]);
      for (const side of all) {
        const places = turns.map((order) => order.indexOf(side)).sort((a, b) => a - b);
        expect(places).toEqual(all.flatMap((_, place) => [place, place]));
      }
    }),
  );
});

it('parts hold every item once, in order', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.integer({ min: 1, max: 9 }), (items, size) => {
      const parts = partsOf(items, size);
      expect(parts.flat()).toEqual(items);
      for (const part of parts.slice(0, -1)) expect(part).toHaveLength(size);
      expect(parts.every((part) => part.length > 0)).toBe(true);
    }),
  );
});
