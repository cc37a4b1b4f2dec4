import { expect, it } from 'vitest';
import { PictureCost } from '../../src/execution/picture-cost.js';

const tiles = (columns: number, rows: number) => ({ columns, rows, width: 1, height: 1 });

it('is known of a grid, and the mean of the last pictures where their sizes decide', () => {
  const cost = new PictureCost();
  expect(cost.of('off')).toBe(1);
  expect(cost.of({ columns: 3, rows: 3, overlap: 0.2 })).toBe(10);
  expect(cost.of('auto')).toBe(9);
  for (let picture = 0; picture < 30; picture += 1) expect(cost.ran('auto', undefined)).toBe(1);
  expect(cost.of('auto')).toBe(1);
  for (let picture = 0; picture < 30; picture += 1) cost.ran('auto', tiles(4, 3));
  expect(cost.of({ size: 640, overlap: 0.2 })).toBe(13);
});

it('does not learn from pictures whose grid was asked for', () => {
  const cost = new PictureCost();
  for (let picture = 0; picture < 30; picture += 1) {
    cost.ran({ columns: 2, rows: 2, overlap: 0.2 }, tiles(2, 2));
    cost.ran('off', undefined);
  }
  expect(cost.of('auto')).toBe(9);
});
