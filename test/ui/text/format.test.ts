import { expect, test } from 'vitest';
import {
  ago,
  bytes,
  clock,
  duration,
  milliseconds,
  plural,
  seconds,
  visible,
} from '../../../src/ui/text/format.js';

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

test('what is hidden in a name is shown', () => {
  expect(visible('a\u202egpj.exe\n')).toBe('a\\u202egpj.exe\\u000a');
  expect(visible('Straße 1 <b>.jpg')).toBe('Straße 1 <b>.jpg');
});

test('figures have as many digits as they are good for', () => {
  expect([milliseconds(3.738), milliseconds(268.4)]).toEqual(['3.7 ms', '268 ms']);
});

test('one is singular, thousands are grouped', () => {
  expect([0, 1, 2_000].map((count) => plural(count, 'image'))).toEqual(['0 images', '1 image', '2,000 images']); // prettier-ignore
  expect(plural(2, 'class', 'classes')).toBe('2 classes');
});

test.each([
  [-3, 'just now'],
  [59, '59 s ago'],
  [60, '1 min ago'],
  [7_199, '1 h ago'],
  [86_400, '1 day ago'],
  [200_000, '2 days ago'],
])('%d s past is %s', (past, text) => {
  expect(ago(past)).toBe(text);
});

test('units follow the size, three digits are shown', () => {
  const text = ({ text: figure, unit }: { text: string; unit: string }) => `${figure} ${unit}`;
  expect([0, 1023, 1024, 1_536_000, 147_000_000, 3e12].map((value) => text(bytes(value)))).toEqual([
    '0 B',
    '1,023 B',
    '1 KiB',
    '1.46 MiB',
    '140 MiB',
    '2.73 TiB',
  ]);
  expect([0.00345, 0.25, 1.5, 12].map((value) => text(seconds(value)))).toEqual(['3.45 ms', '250 ms', '1.50 s', '12 s']); // prettier-ignore
});
