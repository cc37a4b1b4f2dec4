import fc from 'fast-check';
import { expect, test } from 'vitest';
import { boxTicks, timeTicks } from '../../../src/ui/counts/chart-axes.js';
import { hourOf } from '../../../src/ui/counts/wall-hours.js';

test.each([
  [0, [0, 1]],
  [1, [0, 1]],
  [3, [0, 1, 2, 3]],
  [7, [0, 2, 4, 6, 8]],
  [1_234, [0, 500, 1_000, 1_500]],
])('an axis up to %i has %j', (most, ticks) => {
  expect(boxTicks(most)).toEqual(ticks);
});

test('an axis has a few whole numbers at even distances, and room for the highest bar', () => {
  fc.assert(
    fc.property(fc.nat(1e9), (most) => {
      const ticks = boxTicks(most);
      const step = ticks[1]!;
      expect(ticks[0]).toBe(0);
      expect(ticks.at(-1)).toBeGreaterThanOrEqual(most);
      expect(ticks.length).toBeLessThanOrEqual(6);
      ticks.forEach((tick, at) => {
        expect(tick).toBe(at * step);
      });
      expect(String(step)).toMatch(/^[125]0*$/);
    }),
  );
});

const textsOf = (from: string, to: string) =>
  timeTicks(hourOf(from)!, hourOf(to)!).map(({ text }) => text);

test('times are hours, days or months, as the range is long', () => {
  expect(textsOf('2025-11-26T09', '2025-11-26T12')).toEqual(['09:00', '10:00', '11:00']);
  expect(textsOf('2025-11-26', '2025-11-27').slice(0, 3)).toEqual(['26 Nov', '03:00', '06:00']);
  expect(textsOf('2025-11-25T15', '2025-11-26T15')).toEqual([
    ...['15:00', '18:00', '21:00', '26 Nov', '03:00', '06:00', '09:00', '12:00'],
  ]);
  expect(textsOf('2025-11-23', '2025-11-26')).toEqual([
    ...['23 Nov', '12:00', '24 Nov', '12:00', '25 Nov', '12:00'],
  ]);
  expect(textsOf('2025-11-20', '2025-11-26T15')[6]).toBe('26 Nov');
  expect(textsOf('2025-01-01', '2025-12-01')[1]).toBe('Apr 2025');
  expect(textsOf('2015-01-01', '2025-01-01').length).toBeLessThanOrEqual(9);
});

test('a chart has no more labels than it has room for, all within it', () => {
  fc.assert(
    fc.property(fc.nat(400_000), fc.integer({ min: 1, max: 300_000 }), (from, length) => {
      const ticks = timeTicks(from, from + length);
      expect(ticks.length).toBeLessThanOrEqual(9);
      for (const { hour } of ticks) {
        expect(hour).toBeGreaterThanOrEqual(from);
        expect(hour).toBeLessThan(from + length);
      }
    }),
  );
});
