import { expect, test } from 'vitest';
import {
  classCounts,
  clock,
  duration,
  megabytes,
  milliseconds,
  visible,
} from '../../src/ui/format.js';

test.each([
  [-1, '0.00 s'],
  [0.046, '0.05 s'],
  [12.34, '12.3 s'],
  [60, '1 min 0 s'],
  [185.4, '3 min 5 s'],
  [3599.6, '1 h 0 min'],
  [7_380, '2 h 3 min'],
])('%d s is %s', (seconds, text) => {
  expect(duration(seconds)).toBe(text);
});

test('a time of another day has its date', () => {
  const unix = (text: string) => new Date(text).getTime() / 1000;
  const at = unix('2026-03-04T05:06:07');
  expect(clock(at, unix('2026-03-04T23:00:00'))).toBe('05:06:07');
  expect(clock(at, unix('2026-03-05T00:00:00'))).toBe('2026-03-04 05:06:07');
});

test('classes are counted, most first', () => {
  expect(classCounts({ truck: 1, car: 4 })).toBe('4 car, 1 truck');
  expect(classCounts({})).toBe('none');
});

test('what is hidden in a name is shown', () => {
  expect(visible('a\u202egpj.exe\n')).toBe('a\\u202egpj.exe\\u000a');
  expect(visible('Straße 1 <b>.jpg')).toBe('Straße 1 <b>.jpg');
  expect(classCounts({ 'c\u202ear': 1 })).toBe('1 c\\u202ear');
});

test('figures have as many digits as they are good for', () => {
  expect([milliseconds(3.738), milliseconds(268.4)]).toEqual(['3.7 ms', '268 ms']);
  expect(megabytes(147_000_000)).toBe('140 MiB');
});
