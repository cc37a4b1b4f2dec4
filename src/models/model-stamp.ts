/** Whether the file of a model has changed, and whether it is still being written. */
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { digestModel } from '../native/core.js';
import { eightBitPath } from './eight-bit-copy.js';
import { shortDigest, type LoadedModel } from './loaded-model.js';

/** A file that is being written changes at least this often. */
const REST_MS = 1_000;

interface State {
  /** Differs once the file, its copy in 8 bits or weights beside it were replaced, came or went away. */
  fingerprint: string;
  /** Time of modification of the newest of them, by the clock of the volume. */
  modifiedMs: number;
}

export async function fingerprintOf(path: string): Promise<string> {
  return (await stateOf(path)).fingerprint;
}

async function stateOf(path: string): Promise<State> {
  const files = [path, eightBitPath(path), ...(await weightsBeside(path))];
  const entries = await Promise.all(files.map((each) => stat(each).catch(() => null)));
  // A copy can set the time of modification to that of the earlier file, but not the time of change.
  const fingerprints = entries.map((entry) =>
    entry === null ? '' : `${entry.size}:${entry.mtimeMs}:${entry.ctimeMs}:${entry.ino}`,
  );
  const modified = entries.map((entry) => entry?.mtimeMs ?? 0);
  return { fingerprint: fingerprints.join(' '), modifiedMs: Math.max(...modified) };
}

/**
 * Names that exporters give files of weights. Which of them the model has is in the model itself, which is not read
 * here.
 */
const WEIGHTS = /(?:data|weights|bin)$/i;

async function weightsBeside(path: string): Promise<string[]> {
  const entries = await readdir(dirname(path)).catch(() => []);
  return entries
    .filter((entry) => WEIGHTS.test(entry))
    .sort()
    .map((entry) => join(dirname(path), entry));
}

/** Whether its files have the bytes that it was loaded from. */
export async function holdsContent({ file: { path }, version }: LoadedModel): Promise<boolean> {
  const isCopy = version.source !== version.digest;
  const files = [{ path, digest: version.source }];
  if (isCopy) files.push({ path: eightBitPath(path), digest: version.digest });
  const same = files.map(async (each) => {
    const digest = await digestModel(each.path).catch(() => '');
    return shortDigest(digest) === each.digest;
  });
  return (await Promise.all(same)).every(Boolean);
}

/** Files that have changed so recently that they may still be written. */
export class RestingFiles {
  /** The last state of a file by path, and the time at which this state was first seen. */
  readonly #seen = new Map<string, { fingerprint: string; since: number }>();

  /**
   * The fingerprint of a file; null while it may still be written. It is at rest one second after its time of change,
   * or after a look that showed the same: the clock of a volume may be another one. A file that is not there has no
   * time.
   */
  async look(path: string): Promise<string | null> {
    const { fingerprint, modifiedMs } = await stateOf(path);
    const now = performance.now();
    const seen = this.#seen.get(path);
    const age = Date.now() - modifiedMs;
    const isOld = modifiedMs > 0 && age >= REST_MS;
    const wasSame = seen?.fingerprint === fingerprint && now - seen.since >= REST_MS;
    if (isOld || wasSame) {
      this.#seen.delete(path);
      return fingerprint;
    }
    if (seen?.fingerprint !== fingerprint) this.#seen.set(path, { fingerprint, since: now });
    return null;
  }
}
