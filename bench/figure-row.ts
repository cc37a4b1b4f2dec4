/** A figure of `npm run bench` as a row of its tables. */
import type { Measurement } from './setting.js';
import type { Row } from './tables.js';

export function figureRow(row: Measurement): Row {
  return {
    what: row.what,
    value: `${round(row.value)} ${row.unit}`,
    'baseline in the same run': row.baseline
      ? `${round(row.baseline.value)} (${row.baseline.what})`
      : '',
    ratio: row.ratio === undefined ? '' : row.ratio.toFixed(2),
    goal: row.goal ?? '',
    met: row.met === undefined ? '' : row.met ? 'yes' : 'no',
    'bound in the same run': boundText(row),
  };
}

const round = (value: number) => Number(value.toPrecision(4));

/** A rate comes up to its bound from below, a time from above: the share is 100 % at the bound for both. */
function boundText({ value, unit, bound }: Measurement): string {
  if (bound === undefined) return '';
  const isRate = unit.endsWith('/s');
  const share = isRate ? value / bound.value : bound.value / value;
  return `${round(bound.value)} (${bound.what}): ${(100 * share).toFixed(0)} %`;
}
