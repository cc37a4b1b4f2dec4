import { expect, it } from 'vitest';
import { figureRow } from '../../bench/figure-row.js';

const BOUND = { what: 'its parts', value: 20 };

it.each([
  { value: 25, unit: 'ms', share: '80 %' },
  { value: 15, unit: 'req/s', share: '75 %' },
  { value: 20, unit: 'images/s', share: '100 %' },
])('$value $unit has the share of its bound that it reaches: $share', ({ value, unit, share }) => {
  const row = figureRow({ what: 'it', value, unit, bound: BOUND });
  expect(row['bound in the same run']).toBe(`20 (its parts): ${share}`);
});

it('what a figure lacks is empty, so that a table leaves the column out', () => {
  expect(figureRow({ what: 'it', value: 1.23456, unit: 'ms' })).toEqual({
    ...{ what: 'it', value: '1.235 ms', 'baseline in the same run': '', ratio: '' },
    ...{ goal: '', met: '', 'bound in the same run': '' },
  });
});
