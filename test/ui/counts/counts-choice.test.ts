import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rangeFault, readChoice } from '../../../src/ui/counts/counts-choice.js';
import { hourKey, hourOf, type HourRange } from '../../../src/ui/counts/wall-hours.js';

const NOW = hourOf('2025-11-26T14')!;

const texts = ({ from, to }: HourRange) => [from, to].map((hour) => hour && hourKey(hour));

test('an address without choices has seven days by hour, as each job asked', () => {
  const choice = readChoice({ watch: 'north' }, NOW);
  expect(choice).toMatchObject({ watch: 'north', tag: '', by: 'hour', view: '', min: null });
  expect(texts(choice.hours)).toEqual(['2025-11-20T00', '2025-11-26T15']);
  expect(choice.otherHours).toBeNull();
  expect(rangeFault(choice)).toBeNull();
});

test.each([
  ['24h', ['2025-11-25T15', '2025-11-26T15'], ['2025-11-24T15', '2025-11-25T15']],
  ['7d', ['2025-11-20T00', '2025-11-26T15'], ['2025-11-13T00', '2025-11-19T15']],
  ['30d', ['2025-10-28T00', '2025-11-26T15'], ['2025-09-28T00', '2025-10-27T15']],
])('%s, and the same hours of the days before', (range, hours, before) => {
  const choice = readChoice({ range, with: 'before' }, NOW);
  expect(texts(choice.hours)).toEqual(hours);
  expect(texts(choice.otherHours!)).toEqual(before);
});

test('the time before an own range is as long, and ends where it begins', () => {
  fc.assert(
    fc.property(fc.nat(500_000), fc.integer({ min: 1, max: 10_000 }), (from, length) => {
      const query = {
        range: 'own',
        from: hourKey(from),
        to: hourKey(from + length),
        with: 'before',
      };
      const { hours, otherHours } = readChoice(query, NOW);
      expect(hours).toEqual({ from, to: from + length });
      expect(otherHours!.to).toBe(from);
      expect(otherHours!.to! - otherHours!.from!).toBe(length);
    }),
  );
});

test('an address that people have changed asks for nothing that the service refuses', () => {
  const query = { range: 'week', by: 'minute', min: '400', with: 'x', from: 'then' };
  expect(readChoice(query, NOW)).toMatchObject({
    range: '7d',
    by: 'hour',
    min: null,
    compared: '',
  });
  expect(readChoice({ range: 'own', from: 'then' }, NOW).hours).toEqual({ from: null, to: null });
});

test.each([
  [{ range: 'own', from: '2025-11-26', to: '2025-11-26' }, 'The range ends before it begins.'],
  [{ range: 'all', with: 'before' }, 'All times have no time before: choose a range with both.'],
  [
    { range: 'own', from: '2025-11-26', with: 'before' },
    'A range without a begin or an end has no time before: choose a range with both.',
  ],
  [
    { with: 'own', from2: '2025-11-02', to2: '2025-11-01' },
    'The range to compare with ends before it begins.',
  ],
  [{ range: 'own', from: '2025-11-26' }, null],
])('%j: %s', (query: Record<string, string>, fault) => {
  expect(rangeFault(readChoice(query, NOW))).toBe(fault);
});
