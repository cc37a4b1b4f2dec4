import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BackOff } from '../../src/ray/back-off.js';

test('waits stay between the bounds and may double with every failure until a success', () => {
  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.array(chance, { minLength: 1, maxLength: 40 }), (chances) => {
      const left = [...chances];
      const backOff = new BackOff(500, 15_000, () => left.shift()!);
      chances.forEach((_, index) => {
        const wait = backOff.next();
        expect(wait).toBeGreaterThanOrEqual(500);
        expect(wait).toBeLessThanOrEqual(Math.min(15_000, 500 * 2 ** (index + 1)));
      });
      left.push(0.999);
      expect(backOff.next(700)).toBeLessThan(700);
      left.push(0.999);
      backOff.reset();
      expect(backOff.next()).toBeLessThan(1_000);
    }),
  );
});
