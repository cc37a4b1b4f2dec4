/** Images added up by folder, hour or day, in the order of answers. */
import type { HourGrouping } from '../api/job-values.js';
import { CountSum, type HourRow } from '../store/count-sum.js';
import type { HideFolders } from './shown-problem.js';

/** Groups of a scope, in their order. The unknown group comes last. */
export function groupsOf(
  sums: readonly HourRow[],
  by: Exclude<HourGrouping, 'folder_hour'>,
  hide: HideFolders,
): [string | null, CountSum][] {
  const groups = new Map<string | null, CountSum>();
  for (const { folder, hour, sum } of sums) {
    const name = by === 'folder' ? hide(folder) : timeOf(by, hour);
    const group = groups.get(name) ?? new CountSum();
    groups.set(name, group);
    group.merge(sum);
  }
  return sorted(groups);
}

function timeOf(by: 'hour' | 'day', hour: string): string | null {
  if (hour === '') return null;
  return by === 'day' ? hour.slice(0, 'yyyy-mm-dd'.length) : `${hour}:00`;
}

/** Sorts by code units; the unknown group comes last. */
export function sorted<K extends string | null, V>(counts: ReadonlyMap<K, V>): [K, V][] {
  return [...counts].sort(([a], [b]) =>
    a === null ? 1 : b === null ? -1 : a < b ? -1 : a > b ? 1 : 0,
  );
}
