/** Ends calls of `lattice run` at random, lets the last one end by itself, and checks what it left. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { watchRun, type WatchedRun } from './watched-run.js';

export interface KilledRun {
  /** The last one ended by itself. */
  calls: WatchedRun[];
  /** Faults of the outcomes; empty: each file has one. */
  violations: string[];
  /** Processes that ran the images. */
  workers: number;
}

/** The first `kills` calls get SIGKILL, each after at most `within` seconds. */
export async function killedRun(
  args: readonly string[],
  out: string,
  files: number,
  { kills, within, random }: { kills: number; within: number; random: () => number },
): Promise<KilledRun> {
  const calls: WatchedRun[] = [];
  while (calls.length < kills && calls.at(-1)?.code !== 0) {
    calls.push(await watchRun([...args, '--out', out], random() * within));
  }
  if (calls.at(-1)?.code !== 0) calls.push(await watchRun([...args, '--out', out], null));
  return { calls, ...(await outcomesIn(out, files)) };
}

async function outcomesIn(out: string, files: number) {
  const violations: string[] = [];
  const paths = new Set<string>();
  const workers = new Set<string>();
  const lines = createInterface({ input: createReadStream(join(out, 'results.ndjson')) });
  for await (const line of lines) {
    const { image_path: path, status, worker_id: worker } = JSON.parse(line) as Outcome;
    if (paths.has(path)) violations.push(`${path} has two outcomes`);
    if (status !== 'ok') violations.push(`${path}: ${status}`);
    paths.add(path);
    workers.add(worker);
  }
  if (paths.size !== files) violations.push(`${paths.size} of ${files} files have an outcome`);
  const counted = await sumOfCounts(out, 'images');
  if (counted !== files) violations.push(`${counted} of ${files} files are counted`);
  return { violations, workers: workers.size };
}

interface Outcome {
  image_path: string;
  status: string;
  worker_id: string;
}

/** Sum over the rows of the table of counts that a run has left. */
export async function sumOfCounts(out: string, column: 'images' | 'detections'): Promise<number> {
  const [header = '', ...rows] = (await readFile(join(out, 'counts.csv'), 'utf8'))
    .trimEnd()
    .split('\r\n');
  const at = header.split(',').indexOf(column);
  return rows.reduce((sum, row) => sum + Number(row.split(',')[at]), 0);
}
