import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  boxesOf,
  classesOf,
  countRows,
  gapsOf,
  MOST_SLOTS,
  pairsOf,
  rowBoxes,
  rowsOf,
} from '../../../src/ui/counts/count-rows.js';
import { dayText, hourKey, hourOf } from '../../../src/ui/counts/wall-hours.js';
import { countsOf, groupOf, shownOf } from './answers.js';

const NONE = new Set<string>();
const FROM = hourOf('2025-11-26')!;
const DAY = { from: FROM, to: FROM + 24 };
const ALL = { from: null, to: null };

/** Hours with images, each with its boxes; some without any. */
const taken = (span: number) =>
  fc.uniqueArray(fc.tuple(fc.nat(span - 1), fc.nat(20), fc.nat(9)), { selector: ([hour]) => hour });

const answerOf = (hours: readonly [number, number, number][], from = FROM) =>
  countsOf(hours.map(([at, car, bus]) => groupOf(`${hourKey(from + at)}:00`, { car, bus })));

describe('times', () => {
  test('every hour of the range has a row; one without images is none with zero boxes', () => {
    const groups = [groupOf('2025-11-26T09:00', { car: 2 }), groupOf('2025-11-26T10:00', {})];
    const { by, rows } = countRows(countsOf(groups), 'hour', DAY);
    expect(by).toBe('hour');
    expect(rows).toHaveLength(24);
    expect(rows.slice(8, 11).map(({ name, classes }) => [name, classes])).toEqual([
      ['2025-11-26 08:00', null],
      ['2025-11-26 09:00', { car: 2 }],
      ['2025-11-26 10:00', {}],
    ]);
    expect(rows.slice(8, 11).map((row) => rowBoxes(row, NONE))).toEqual([null, 2, 0]);
  });

  test('rows have the boxes and images of the answer, in their order, whatever the range', () => {
    fc.assert(
      fc.property(
        taken(1_500),
        fc.boolean(),
        fc.constantFrom('hour', 'day'),
        (hours, isOpen, by) => {
          const answer = answerOf(hours);
          const range = isOpen ? ALL : { from: FROM, to: FROM + 1_500 };
          const { rows, by: shown } = countRows(answer, by, range);
          const sum = (of: (row: (typeof rows)[number]) => number) =>
            rows.reduce((all, row) => all + of(row), 0);
          expect(sum((row) => rowBoxes(row, NONE) ?? 0)).toBe(answer.total.detections);
          expect(sum((row) => row.images?.images ?? 0)).toBe(answer.total.images);
          const step = shown === 'hour' ? 1 : 24;
          rows.forEach((row, at) => {
            expect(row.start! - rows[0]!.start!).toBe(at * step);
          });
          expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
          const gaps = rows.filter(({ classes }) => classes === null);
          const steps = new Set(hours.map(([at]) => Math.floor(at / step)));
          expect(rows.length - gaps.length).toBe(steps.size);
        },
      ),
    );
  });

  test('a range without bounds is from the first image to the last one; without images it has no rows', () => {
    const groups = [groupOf('2025-11-26T09:00', {}), groupOf('2025-11-26T12:00', {})];
    expect(countRows(countsOf(groups), 'hour', ALL).rows).toHaveLength(4);
    expect(countRows(countsOf([]), 'hour', ALL).rows).toEqual([]);
    expect(countRows(countsOf([]), 'hour', DAY).rows).toHaveLength(24);
  });

  test('hours that are too many for a chart are shown as days', () => {
    const range = { from: FROM, to: FROM + MOST_SLOTS };
    const hours = answerOf([
      [1, 2, 0],
      [5, 3, 1],
      [24, 1, 0],
    ]);
    expect(countRows(hours, 'hour', range).by).toBe('hour');
    const { by, rows } = countRows(hours, 'hour', { ...range, to: range.to + 1 });
    expect(by).toBe('day');
    expect(rows).toHaveLength(32);
    expect(rows[0]).toMatchObject({ name: dayText(FROM), classes: { car: 5, bus: 1 } });
    expect(rows[0]!.images!.images).toBe(2);
    expect(rows[2]!.classes).toBeNull();
  });

  test('gaps are the rows without images, those beside each other as one', () => {
    fc.assert(
      fc.property(taken(60), (hours) => {
        const { rows } = countRows(answerOf(hours), 'hour', { from: FROM, to: FROM + 60 });
        const gaps = gapsOf(rows);
        const inGap = rows.map((_, at) => gaps.some(({ from, to }) => from <= at && at < to));
        expect(inGap).toEqual(rows.map(({ classes }) => classes === null));
        gaps.slice(1).forEach(({ from }, at) => {
          expect(from).toBeGreaterThan(gaps[at]!.to);
        });
      }),
    );
  });

  test('images without a time are apart', () => {
    const { rows, untimed } = countRows(countsOf([groupOf(null, { car: 3 })]), 'day', ALL);
    expect(rows).toEqual([]);
    expect(untimed).toMatchObject({ name: 'no time', classes: { car: 3 } });
  });
});

test('classes and regions are those of the total, folders those of the groups', () => {
  const answer = countsOf([groupOf('a/b', { car: 2, bus: 1 })]);
  answer.total.region_counts = { near: { car: 2 }, far: {} };
  const named = (by: 'class' | 'region' | 'folder') =>
    countRows(answer, by, ALL).rows.map((row) => [row.name, rowBoxes(row, NONE)]);
  expect(named('class')).toEqual([
    ['car', 2],
    ['bus', 1],
  ]);
  expect(named('region')).toEqual([
    ['near', 2],
    ['far', 0],
  ]);
  expect(named('folder')).toEqual([['a/b', 3]]);
});

test('classes that are switched off are not in the boxes', () => {
  const classes = fc.dictionary(fc.string(), fc.nat(100));
  fc.assert(
    fc.property(classes, fc.array(fc.string()), (counts, off) => {
      const hidden = new Set([...off, ...Object.keys(counts).slice(0, 1)]);
      const left = Object.entries(counts).filter(([name]) => !hidden.has(name));
      expect(boxesOf(counts, hidden)).toBe(left.reduce((sum, [, boxes]) => sum + boxes, 0));
      expect(boxesOf(counts, NONE)).toBe(
        boxesOf(counts, hidden) + boxesOf(counts, new Set(left.map(([name]) => name))),
      );
    }),
  );
});

describe('two ranges', () => {
  test('times are paired by their place, each row once', () => {
    fc.assert(
      fc.property(taken(100), taken(60), (hours, others) => {
        const rows = countRows(answerOf(hours), 'hour', { from: FROM, to: FROM + 100 }).rows;
        const second = countRows(answerOf(others, FROM - 60), 'hour', {
          from: FROM - 60,
          to: FROM,
        }).rows;
        const pairs = pairsOf(rows, second);
        expect(pairs.flatMap(({ row }) => row ?? [])).toEqual(rows);
        expect(pairs.flatMap(({ other }) => other ?? [])).toEqual(second);
        expect(pairs[0]).toEqual({ row: rows[0], other: second[0] });
      }),
    );
  });

  test('names are paired by the name, and those of one range only are there too', () => {
    const rows = (...names: string[]) =>
      countRows(countsOf(names.map((name) => groupOf(name, {}))), 'folder', ALL).rows;
    const pairs = pairsOf(rows('a', 'b'), rows('b', 'c'));
    expect(pairs.map(({ row, other }) => [row?.name, other?.name])).toEqual([
      ['a', undefined],
      ['b', 'b'],
      [undefined, 'c'],
    ]);
  });

  test('both are shown in the same steps: days where one of them is too long for hours', () => {
    const long = { range: 'own', from: '2025-10-01', to: '2025-11-26' };
    const day = { with: 'own', from2: '2025-11-25', to2: '2025-11-26' };
    const answer = answerOf([[0, 1, 0]], hourOf('2025-11-25')!);
    const one = rowsOf(shownOf({ ...long, ...day }, answer, answer), NONE);
    expect([one.rows.by, one.others?.by]).toEqual(['day', 'day']);
    const swapped = {
      range: 'own',
      from: day.from2,
      to: day.to2,
      with: 'own',
      from2: long.from,
      to2: long.to,
    };
    const other = rowsOf(shownOf(swapped, answer, answer), NONE);
    expect([other.rows.by, other.others?.by]).toEqual(['day', 'day']);
    expect(other.rows.rows).toHaveLength(1);
  });

  test('the classes of both are listed, most boxes first', () => {
    const [one, other] = [
      { car: 1, bus: 2 },
      { bus: 1, van: 2 },
    ].map((classes) => countsOf([groupOf('a', classes)]));
    expect(classesOf(shownOf({}, one!, other)).map(({ name }) => name)).toEqual([
      'bus',
      'van',
      'car',
    ]);
  });
});

test('of a range of many years only the part with images is shown', () => {
  const answer = answerOf([
    [0, 1, 0],
    [48, 1, 0],
  ]);
  for (const by of ['hour', 'day'] as const) {
    const { rows } = countRows(answer, by, { from: hourOf('0002-11-26'), to: FROM + 100 });
    expect(rows).toHaveLength(by === 'hour' ? 49 : 3);
  }
  const far = { from: hourOf('0002-11-26'), to: FROM };
  expect(countRows(countsOf([]), 'day', far).rows).toEqual([]);
});
