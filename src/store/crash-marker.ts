/**
 * The task ids that a crash signal stored, one per line: first the one that the crashing thread had in hand (0 when
 * it had none or several), then all in hand. The addon empties `crash.marker` when it opens it, so a start renames the
 * file before that.
 */
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface CrashReport {
  /** Differs for every crash. */
  markerId: string;
  /** Suspected tasks: that of the crashing thread if it is known, else all in hand. */
  tasks: number[];
}

/** The path at which the addon writes the marker. */
export const crashMarkerPath = (dataDir: string) => join(dataDir, 'crash.marker');
const setAsideFile = (dataDir: string) => join(dataDir, 'crash.uncharged');

/** Call before the addon opens the marker. Does nothing without a marker or with an empty one. */
export function setCrashMarkerAside(dataDir: string): void {
  const marker = crashMarkerPath(dataDir);
  const size = statSync(marker, { throwIfNoEntry: false })?.size ?? 0;
  if (size > 0) renameSync(marker, setAsideFile(dataDir));
}

/** Null when the last process did not crash, or its crash was charged already. */
export function readCrashReport(dataDir: string): CrashReport | null {
  const file = setAsideFile(dataDir);
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  const text = readFileSync(file, 'utf8');
  const [own = 0, ...inHand] = text.split('\n').map(Number).filter(Number.isSafeInteger);
  const tasks = own > 0 ? [own] : [...new Set(inHand)].filter((task) => task > 0);
  const markerId = createHash('sha256').update(`${stat.mtimeMs}\n${text}`).digest('hex');
  return { markerId, tasks };
}

/** Call once the deaths are on disk. */
export function forgetCrashReport(dataDir: string): void {
  rmSync(setAsideFile(dataDir), { force: true });
}
