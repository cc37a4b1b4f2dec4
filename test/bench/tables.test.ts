import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textTable } from '../../bench/tables.js';

describe('a table for the terminal', () => {
  it('has aligned columns, and no empty column', () => {
    const rows = [
      { what: 'a', value: '1 ms', goal: '' },
      { what: 'longer', value: '', goal: '' },
      { what: 'b', value: '10 images/s', goal: '' },
    ];
    expect(textTable(rows).split('\n')).toEqual([
      'what    value',
      'a       1 ms',
      'longer',
      'b       10 images/s',
    ]);
    expect(textTable([])).toBe('');
  });

  it('shows every word once, in its row', () => {
    const word = fc.stringMatching(/^[a-z]{1,9}$/);
    fc.assert(
      fc.property(fc.array(fc.record({ x: word, y: word }), { minLength: 1 }), (rows) => {
        const [, ...lines] = textTable(rows).split('\n');
        expect(lines.map((line) => line.split(/ +/))).toEqual(rows.map(({ x, y }) => [x, y]));
      }),
    );
  });
});
