/** Levels as lines on the screen, as CSV and as JSON. */
import { writeFile } from 'node:fs/promises';
import { pathFault } from '../../base/path-fault.js';
import { renderRow } from '../table.js';
import { UsageError } from '../terminal.js';
import type { Level } from './level.js';

const COLUMNS = [
  'IMAGES/S',
  'P50 ms',
  'P95 ms',
  'P99 ms',
  'QUEUE',
  'DECODE',
  'INFERENCE',
  'ERRORS',
];

export type MeasuredLevel = { load: number } & Level;

export function headerLine(kind: string): string {
  return line([kind, ...COLUMNS]);
}

export function levelLine(level: MeasuredLevel): string {
  const { latency_ms: latency, server_ms: server } = level;
  const times = [latency.p50, latency.p95, latency.p99, server.queue, server.decode];
  const failed = Object.entries(level.errors).map(([code, count]) => `${count} ${code}`);
  return line([
    String(level.load),
    ...[level.images_per_second, ...times, server.inference].map((each) => each?.toFixed(1) ?? ''),
    `${failed.join(', ') || '0'}${level.stable ? '' : '  (not stable)'}`,
  ]);
}

const line = (cells: string[]) => renderRow(cells, [12, 8, 8, 8, 8, 7, 9, 7]);

/** Rejects with `UsageError` when a file cannot be written. */
export async function writeFiles(
  run: { kind: string; levels: readonly MeasuredLevel[] },
  { csv, json }: { csv?: string; json?: string },
): Promise<void> {
  if (csv !== undefined) await write(csv, csvOf(run.kind, run.levels));
  if (json !== undefined) await write(json, `${JSON.stringify(run, null, 2)}\n`);
}

/** Nested names are joined: `latency_ms_p50`. Errors are counted, as their codes differ by level. */
function csvOf(kind: string, levels: readonly MeasuredLevel[]): string {
  const rows = levels.map(({ errors, ...level }) => {
    const failed = Object.values(errors).reduce((sum, count) => sum + count, 0);
    return Object.entries({ ...level, errors: failed }).flatMap(([name, value]) =>
      typeof value === 'object'
        ? Object.entries(value).map(([part, figure]) => [`${name}_${part}`, figure] as const)
        : [[name, value] as const],
    );
  });
  const header = rows[0]?.map(([name]) => (name === 'load' ? kind : name)) ?? [kind];
  return [header, ...rows.map((row) => row.map(([, value]) => value))]
    .map((row) => `${row.join(',')}\n`)
    .join('');
}

async function write(file: string, text: string): Promise<void> {
  await writeFile(file, text).catch((error: unknown) => {
    throw new UsageError(pathFault(error, file, 'write'));
  });
}
