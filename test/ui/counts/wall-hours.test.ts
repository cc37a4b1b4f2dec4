import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  dayStart,
  hourKey,
  hourOf,
  hourText,
  monthText,
  rangeText,
  shortDay,
  wallHour,
} from '../../../src/ui/counts/wall-hours.js';

/** From 1970 to 2100. */
const hours = fc.integer({ min: 0, max: 130 * 366 * 24 });

test('any hour comes back from its text', () => {
  fc.assert(
    fc.property(hours, (hour) => {
      expect(hourOf(hourKey(hour))).toBe(hour);
      expect(hourOf(`${hourKey(hour)}:00`)).toBe(hour);
      expect(hourOf(hourKey(hour).slice(0, 10))).toBe(dayStart(hour));
    }),
  );
});

test.each([
  '',
  'no time',
  '2025-02-30',
  '2025-13-01',
  '2025-11-26T24',
  '2025-11-26 14:00',
  '14:00',
])('%j is no hour', (text) => {
  expect(hourOf(text)).toBeNull();
});

test('hours of the clock on the wall have no zone and no summer time', () => {
  const clock = new Date(2025, 2, 30, 14, 59);
  expect(hourKey(wallHour(clock))).toBe('2025-03-30T14');
  expect(hourOf('2025-03-31')! - hourOf('2025-03-30')!).toBe(24);
});

test('times as axes have them', () => {
  const hour = hourOf('2025-11-06T09')!;
  expect([hourText(hour), shortDay(hour), monthText(hour)]).toEqual([
    '2025-11-06 09:00',
    '6 Nov',
    'Nov 2025',
  ]);
});

test.each([
  ['2025-11-20', '2025-11-27', '2025-11-20 to 2025-11-26'],
  ['2025-11-26', '2025-11-27', '2025-11-26'],
  ['2025-11-26T06', '2025-11-26T18', '2025-11-26 06:00 to 2025-11-26 18:00'],
  ['2025-11-26', '', 'from 2025-11-26'],
  ['', '2025-11-27', 'until 2025-11-26'],
  ['', '2025-11-27T12', 'until 2025-11-27 12:00'],
  ['', '', 'all times'],
])('the range from %j to %j is %j', (from, to, text) => {
  expect(rangeText({ from: hourOf(from), to: hourOf(to) })).toBe(text);
});
