import { expect, test } from 'vitest';
import { placeAfter, tileLayout } from '../../../src/ui/job/tile-layout.js';

test.each([
  [358, 2],
  [700, 3],
  [960, 4],
  [1_440, 6],
])('in %d pixels stand %d tiles side by side', (available, columns) => {
  const layout = tileLayout(available);
  expect(layout.columns).toBe(columns);
  const used = columns * layout.width + (columns - 1) * layout.gap;
  expect(used).toBeCloseTo(available);
});

test('a width that is not known yet gives no tile without size', () => {
  expect(tileLayout(0)).toMatchObject({ columns: 2, width: 1 });
});

test('keys move through rows and columns, and stop at the ends', () => {
  const grid = { columns: 5, count: 23, rowsInView: 2 };
  const after = (key: string, place: number) => placeAfter(key, place, grid);
  expect(after('ArrowRight', 4)).toBe(5);
  expect(after('ArrowLeft', 0)).toBe(0);
  expect(after('ArrowDown', 3)).toBe(8);
  expect(after('ArrowUp', 8)).toBe(3);
  expect(after('ArrowDown', 21)).toBe(22);
  expect(after('PageDown', 3)).toBe(13);
  expect(after('Home', 20)).toBe(0);
  expect(after('End', 0)).toBe(22);
  expect(after('Enter', 3)).toBeNull();
});
