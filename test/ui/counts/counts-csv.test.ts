import { expect, test } from 'vitest';
import { countRows } from '../../../src/ui/counts/count-rows.js';
import { countsCsv } from '../../../src/ui/counts/counts-csv.js';
import { countsOf, groupOf } from './answers.js';

const ALL = { from: null, to: null };
const rows = (classes: Record<string, number>) =>
  countRows(countsOf([groupOf('a', classes)]), 'class', ALL).rows;

test('a line per class; names that a spreadsheet would run or split are text', () => {
  expect(countsCsv('class', rows({ car: 2, '=a,b': 1 }), null, new Set())).toBe(
    'class,detections\r\ncar,2\r\n"\'=a,b",1\r\n',
  );
});

test('two ranges have a column each, with 0 where one has no such class', () => {
  expect(countsCsv('class', rows({ car: 2 }), rows({ bus: 1 }), new Set())).toBe(
    'class,detections,detections_compared\r\ncar,2,0\r\nbus,0,1\r\n',
  );
});
