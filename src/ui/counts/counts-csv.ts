/** Counts by class or region as a CSV file; the service writes the others. */
import { cell } from '../../export/csv.js';
import { pairsOf, rowBoxes, type CountRow } from './count-rows.js';

/** `others`: rows of the range that is compared; null without one. */
export function countsCsv(
  by: string,
  rows: readonly CountRow[],
  others: readonly CountRow[] | null,
  hidden: ReadonlySet<string>,
): string {
  const isCompared = others !== null;
  const lines = pairsOf(rows, others ?? []).map(({ row, other }) => [
    cell(row?.name ?? other?.name ?? ''),
    rowBoxes(row, hidden) ?? 0,
    ...(isCompared ? [rowBoxes(other, hidden) ?? 0] : []),
  ]);
  const header = [by, 'detections', ...(isCompared ? ['detections_compared'] : [])];
  return [header, ...lines].map((cells) => `${cells.join(',')}\r\n`).join('');
}
