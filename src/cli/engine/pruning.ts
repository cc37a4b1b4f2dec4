/**
 * Removes files from the engine folder, without a lock: if a service stores a successor of a removed file meanwhile,
 * the next start only builds once more. Lock files stay, because one of them may be held.
 */
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { listStoredEngines, type StoredEngine } from '../../models/stored-engines.js';
import type { Config } from '../../settings/config.js';
import { megabytes, renderTable } from '../output-text.js';
import type { Terminal } from '../terminal.js';

const DAY_MS = 24 * 3600 * 1000;
/** Writing an engine takes seconds: a file that was not written to for so long has no writer any more. */
const ABANDONED_MS = 3600 * 1000;
const STALE = 'stored by an earlier release';

export interface PruneFlags {
  /** Days without use. */
  olderThan?: number;
  all?: boolean;
  dryRun?: boolean;
}

interface Removal {
  name: string;
  bytes: number;
  why: string;
}

/** Files that lattice did not write are named and kept. */
export async function pruneEngines(
  rules: PruneFlags,
  config: Config,
  terminal: Terminal,
): Promise<void> {
  const folder = config.engineCacheDir;
  const files = await listStoredEngines(folder);
  const removals = [
    ...files.flatMap((file) => removalOf(file, rules)),
    ...(await otherRemovals(folder, rules)),
  ];
  for (const { name } of removals) {
    if (rules.dryRun !== true) await rm(join(folder, name), { force: true });
  }
  const rows = removals.map(({ name, bytes, why }) => [name, megabytes(bytes), why]);
  for (const line of renderTable(rows)) terminal.out(line);
  const total = megabytes(removals.reduce((sum, { bytes }) => sum + bytes, 0));
  const count = removals.length === 1 ? '1 file' : `${removals.length} files`;
  if (removals.length === 0) terminal.out(`There is nothing to remove in ${folder}.`);
  else terminal.out(`${rules.dryRun === true ? 'Would remove' : 'Removed'} ${count}, ${total}.`);
  for (const { state, reason } of files) {
    if (state === 'foreign') terminal.err(`Left alone: ${reason}`);
  }
}

function removalOf(file: StoredEngine, rules: PruneFlags): Removal[] {
  if (file.state === 'foreign') return [];
  const why = file.state === 'stale' ? STALE : reasonByRules(file.lastUsed, rules);
  return why === null ? [] : [{ name: file.name, bytes: file.bytes, why }];
}

/** Timing caches of TensorRT, and what broken-off writes left. */
async function otherRemovals(folder: string, rules: PruneFlags): Promise<Removal[]> {
  const removals: Removal[] = [];
  for (const name of (await readdir(folder).catch(() => [])).sort()) {
    const reasonFor = OTHERS.find(([pattern]) => pattern.test(name))?.[1];
    if (reasonFor === undefined) continue;
    const info = await lstat(join(folder, name)).catch(() => null);
    if (info?.isFile() !== true || info.uid !== process.geteuid?.()) continue;
    const why = reasonFor(info.mtime, rules);
    if (why !== null) removals.push({ name, bytes: info.size, why });
  }
  return removals;
}

const OTHERS: readonly [RegExp, (lastUsed: Date, rules: PruneFlags) => string | null][] = [
  [/\.(engine|cache)\.partial$/, reasonForPartial],
  [/^timing_.+\.cache$/, reasonByRules],
  [/^timing-[0-9a-f]+\.cache$/, () => STALE],
];

function reasonForPartial(writtenAt: Date): string | null {
  return Date.now() - writtenAt.getTime() > ABANDONED_MS ? 'left by an interrupted build' : null;
}

function reasonByRules(lastUsed: Date, { olderThan, all }: PruneFlags): string | null {
  const unused = (Date.now() - lastUsed.getTime()) / DAY_MS;
  if (olderThan !== undefined && unused >= olderThan) {
    return `not used for ${Math.floor(unused)} days`;
  }
  return all === true ? 'all were asked for' : null;
}
