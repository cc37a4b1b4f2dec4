import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DAYS } from '../../src/api/watch-times.js';
import { isScheduled } from '../../src/watches/schedule.js';

const MINUTES = 24 * 60;
const text = (minute: number) =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
/** 2026-11-22 is a Sunday. */
const at = (day: number, minute: number) => new Date(2026, 10, 22 + day, 0, minute);

test('no schedule is always', () => {
  expect(isScheduled(null, new Date())).toBe(true);
  expect(isScheduled([], new Date())).toBe(false);
});

test('a time lasts from its first minute until before its last one, past midnight too, on its days', () => {
  const minute = fc.integer({ min: 0, max: MINUTES - 1 });
  const day = fc.integer({ min: 0, max: 6 });
  fc.assert(
    fc.property(minute, minute, day, day, minute, (from, to, begins, today, now) => {
      const length = to > from ? to - from : to - from + MINUTES;
      const since = ((today - begins + 7) % 7) * MINUTES + now - from;
      const times = [{ from: text(from), to: text(to), days: [DAYS[begins] ?? 'sun'] }];
      expect(isScheduled(times, at(today, now))).toBe(since >= 0 && since < length);
    }),
  );
});

test('of several times one is enough', () => {
  const times = [
    { from: '06:00', to: '08:00' },
    { from: '22:00', to: '02:00', days: ['sat' as const] },
  ];
  expect(isScheduled(times, at(3, 7 * 60))).toBe(true);
  expect(isScheduled(times, at(3, 8 * 60))).toBe(false);
  expect(isScheduled(times, at(7, 60))).toBe(true);
  expect(isScheduled(times, at(6, 60))).toBe(false);
});
