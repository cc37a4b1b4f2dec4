import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DAYS, timesOf, timesText } from '../../src/api/watch-times.js';

test.each([
  ['06:00-20:00', [{ from: '06:00', to: '20:00' }]],
  ['mon-wed@06:00-20:00', [{ from: '06:00', to: '20:00', days: ['mon', 'tue', 'wed'] }]],
  ['fri-mon@22:00-06:00', [{ from: '22:00', to: '06:00', days: ['fri', 'sat', 'sun', 'mon'] }]],
  [
    'sat@08:00-12:00, 13:00-14:00',
    [
      { from: '08:00', to: '12:00', days: ['sat'] },
      { from: '13:00', to: '14:00' },
    ],
  ],
])('%s', (text, times) => {
  expect(timesOf(text)).toEqual(times);
  expect(timesText(times as ReturnType<typeof timesOf>)).toBe(text);
});

test.each(['', '6-20', 'monday@06:00-20:00', 'xyz@06:00-20:00', 'mon-@06:00-20:00'])(
  '%j is refused',
  (text) => {
    expect(() => timesOf(text)).toThrow(RangeError);
  },
);

test('any choice of days is the same after it was written and read', () => {
  const days = fc.uniqueArray(fc.constantFrom(...DAYS), { minLength: 1 });
  fc.assert(
    fc.property(days, (chosen) => {
      const read = timesOf(timesText([{ from: '06:00', to: '20:00', days: chosen }]));
      expect(read.flatMap((time) => time.days ?? []).sort()).toEqual([...chosen].sort());
    }),
  );
});
