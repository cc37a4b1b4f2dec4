/**
 * The files that one watch has seen, by path: the version of each, and how far it has come. Every change of a state is
 * made by `#become`, a new version of a file begins anew.
 *
 *             rests            take            answer
 *   moving ──────────▶ due ──────────▶ asked ──────────▶ known
 *     │                 ▲ ▲              │ ▲ ├─────────▶ pending ── askAgain ──▶ due
 *     │ empty, or no    │ └── answer ────┘ │ └─────────▶ fresh
 *     ▼ permission      │                  └─ takeFresh ───┘
 *   skipped ────────────┘
 *
 * A new version of a file begins at `moving`; `takeAsKnown` makes a file `known` from any state; a file that a whole
 * scan does not find is dropped.
 *
 * A file rests when two looks, `settleMs` apart by a clock that nobody sets, have found the same version. One that is
 * overwritten for `MOST_SETTLES` times as long without resting is taken as it is.
 */
import { isReadable, type FileVersion, type Found } from './file-versions.js';

/** A file that is overwritten for so many times `settleMs` is taken; one that only grows is still being written. */
const MOST_SETTLES = 10;
const RESTLESS_NAMED = 3;

export interface SeenFile {
  path: string;
  version: string;
}

export interface FreshFile extends SeenFile {
  /** Since it arrived, as far as is known. */
  ageMs: number;
  isCopy: boolean;
}

/** State of a file in the ledger. `due`: ask for it again. `copy`: fresh, and other files have its version. */
export type Standing = 'due' | 'pending' | 'fresh' | 'copy' | 'known';

export interface FileCounts {
  files: number;
  moving: number;
  due: number;
  fresh: number;
  pending: number;
  /** Since the first of the fresh ones arrived; 0 without one. */
  oldestFreshMs: number;
}

type State = 'moving' | 'skipped' | 'due' | 'asked' | 'pending' | 'fresh' | 'known';

interface Entry {
  root: string;
  version: string;
  size: bigint;
  inode: bigint;
  /** Time of the first look that found this version. */
  since: number;
  arrived: number;
  /** Time of the first look that found it overwritten before it had come to rest or was taken. */
  restlessSince: number | null;
  state: State;
  isCopy: boolean;
  scan: number;
}

export class SeenFiles {
  readonly #settleMs: number;
  readonly #entries = new Map<string, Entry>();
  /** Paths by state, in the order in which they came to it. Of most files, which are known, there is no second list. */
  readonly #in: Partial<Record<State, Set<string>>> & Record<Listed, Set<string>> = {
    moving: new Set(),
    skipped: new Set(),
    due: new Set(),
    pending: new Set(),
    fresh: new Set(),
  };
  /** Taken although they did not come to rest. */
  readonly #restless = new Set<string>();
  #scan = 0;
  #begun = performance.now();
  /** When the last scan that has ended began. */
  #scannedAt = performance.now();

  constructor(settleMs: number) {
    this.#settleMs = settleMs;
  }

  get size(): number {
    return this.#entries.size;
  }

  get counts(): FileCounts {
    const [first = ''] = this.#in.fresh;
    const arrived = this.#entries.get(first)?.arrived;
    return {
      files: this.#entries.size,
      moving: this.#in.moving.size,
      due: this.#in.due.size,
      fresh: this.#in.fresh.size,
      pending: this.#in.pending.size,
      oldestFreshMs: arrived === undefined ? 0 : performance.now() - arrived,
    };
  }

  beginScan(): void {
    this.#scan += 1;
    this.#begun = performance.now();
  }

  /** Drops the files that a whole scan has not found. */
  endScan(isWhole: boolean): void {
    this.#scannedAt = this.#begun;
    if (!isWhole) return;
    for (const [path, { scan }] of this.#entries) if (scan !== this.#scan) this.#drop(path);
  }

  /** Whether the scan of the moment has found it. */
  isFound(path: string): boolean {
    return this.#entries.get(path)?.scan === this.#scan;
  }

  has(path: string): boolean {
    return this.#entries.has(path);
  }

  rootOf(path: string): string | null {
    return this.#entries.get(path)?.root ?? null;
  }

  /** Takes what a look at the file has found. False: there is no file. */
  look(root: string, path: string, found: Found): boolean {
    if (found === null) {
      this.#drop(path);
      return false;
    }
    let entry = this.#entries.get(path);
    if (found === undefined) {
      if (entry !== undefined) entry.scan = this.#scan;
      return true;
    }
    const now = performance.now();
    if (entry?.version !== found.version) {
      entry = this.#replaced(path, found, now) ?? this.#add(root, path, found, now);
    }
    entry.scan = this.#scan;
    this.#rest(path, entry, found, now);
    return true;
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Its version is given, and needs no answer of the ledger. */
  takeAsKnown(path: string): SeenFile | null {
    const entry = this.#entries.get(path);
    if (entry === undefined) return null;
    this.#become(path, entry, 'known');
    return { path, version: entry.version };
  }

  /** Files that rest and that the ledger has not been asked about. */
  take(limit: number): SeenFile[] {
    return this.#first('due', limit).map(([path, entry]) => {
      this.#become(path, entry, 'asked');
      return { path, version: entry.version };
    });
  }

  /** Takes the answers of the ledger about files that were taken. A file that has changed since stays as it is. */
  answer(answers: readonly (SeenFile & { standing: Standing })[]): void {
    for (const { path, version, standing } of answers) {
      const entry = this.#entries.get(path);
      if (entry?.version !== version || entry.state !== 'asked') continue;
      entry.isCopy = standing === 'copy';
      this.#become(path, entry, standing === 'copy' ? 'fresh' : standing);
    }
  }

  /** The ledger may say something else of pending files now. */
  askAgain(): void {
    for (const [path, entry] of this.#first('pending', Infinity)) this.#become(path, entry, 'due');
  }

  /** The fresh files that came first. `lookAgain` looks at each: one that has another version by then is not taken. */
  async takeFresh(
    limit: number,
    lookAgain: (root: string, path: string) => Promise<unknown>,
  ): Promise<FreshFile[]> {
    const files: FreshFile[] = [];
    for (const [path, entry] of this.#first('fresh', limit)) {
      await lookAgain(entry.root, path);
      if (this.#entries.get(path) !== entry || entry.state !== 'fresh') continue;
      this.#become(path, entry, 'asked');
      entry.restlessSince = null;
      const { version, arrived, isCopy } = entry;
      files.push({ path, version, ageMs: performance.now() - arrived, isCopy });
    }
    return files;
  }

  /** How long the first of the moving files has still to rest; null without one. */
  get msUntilRest(): number | null {
    const [first] = this.#first('moving', 1);
    return first === undefined ? null : first[1].since + this.#settleMs - performance.now();
  }

  /** Moving files that have rested long enough if they have not changed since. */
  resting(): { root: string; path: string }[] {
    const before = performance.now() - this.#settleMs;
    return this.#first('moving', Infinity).flatMap(([path, { root, since }]) =>
      since <= before ? [{ root, path }] : [],
    );
  }

  /** Files that are not taken, by the reason. */
  get skipped(): Record<string, number> {
    const skipped: Record<string, number> = {};
    for (const [, { size }] of this.#first('skipped', Infinity)) {
      const reason = size === 0n ? 'empty' : 'no permission';
      skipped[reason] = (skipped[reason] ?? 0) + 1;
    }
    return skipped;
  }

  /** For people; empty where every file comes to rest. */
  get remarks(): string[] {
    const count = this.#restless.size;
    if (count === 0) return [];
    const names = [...this.#restless].slice(0, RESTLESS_NAMED).map((path) => `'${path}'`);
    const more = count > RESTLESS_NAMED ? ` and ${count - RESTLESS_NAMED} more` : '';
    const are = count === 1 ? 'never rests: it is' : 'never rest: they are';
    const seconds = (MOST_SETTLES * this.#settleMs) / 1_000;
    return [
      `${names.join(', ')}${more} ${are} overwritten again and again, and taken every ${seconds} s.`,
    ];
  }

  /** The present version of the file has been there for a time, or it changes for too long. */
  #rest(path: string, entry: Entry, found: FileVersion, now: number): void {
    const rests = now - entry.since >= this.#settleMs;
    const isRestless = this.#isRestless(entry, now);
    if (rests) this.#restless.delete(path);
    else if (isRestless) this.#restless.add(path);
    // One that is overwritten is empty for a moment.
    const isDue = rests || (isRestless && entry.size > 0n);
    if ((entry.state === 'moving' && isDue) || entry.state === 'skipped') {
      const isTaken = entry.size > 0n && isReadable(found.onDisk);
      this.#become(path, entry, isTaken ? 'due' : 'skipped');
    }
  }

  #isRestless({ restlessSince }: Entry, now: number): boolean {
    return restlessSince !== null && now - restlessSince >= MOST_SETTLES * this.#settleMs;
  }

  /** A restless file stays fresh under its new version: by the time it is submitted there is always another one. */
  #replaced(path: string, found: FileVersion, now: number): Entry | null {
    const entry = this.#entries.get(path);
    if (entry?.state !== 'fresh' || !this.#isRestless(entry, now)) return null;
    const { version, size, inode } = found;
    return Object.assign(entry, { version, size, inode, since: now });
  }

  #add(root: string, path: string, found: FileVersion, now: number): Entry {
    const { version, size, inode } = found;
    const restlessSince = this.#restlessSince(path, found, now);
    const wasRestless = this.#restless.has(path);
    this.#drop(path);
    const entry: Entry = {
      ...{ root, version, size, inode, since: now, restlessSince },
      arrived: this.#arrival(found, now),
      state: 'moving',
      isCopy: false,
      scan: this.#scan,
    };
    this.#entries.set(path, entry);
    this.#become(path, entry, 'moving');
    if (wasRestless) this.#restless.add(path);
    return entry;
  }

  #restlessSince(path: string, { inode, size }: FileVersion, now: number): number | null {
    const before = this.#entries.get(path);
    if (before === undefined || ['known', 'pending', 'skipped'].includes(before.state)) return null;
    const grows = before.inode === inode && size > before.size;
    return before.restlessSince ?? (grows ? null : now);
  }

  /** When the file changed, where its clock and ours show that this was since the last scan. */
  #arrival({ changedAt }: FileVersion, now: number): number {
    const age = Date.now() - changedAt;
    const arrived = now - age;
    return age >= 0 && arrived >= this.#scannedAt ? arrived : now;
  }

  #become(path: string, entry: Entry, state: State): void {
    this.#in[entry.state]?.delete(path);
    entry.state = state;
    this.#in[state]?.add(path);
  }

  #drop(path: string): void {
    const entry = this.#entries.get(path);
    if (entry !== undefined) this.#in[entry.state]?.delete(path);
    this.#entries.delete(path);
    this.#restless.delete(path);
  }

  #first(state: Listed, limit: number): [string, Entry][] {
    const found: [string, Entry][] = [];
    for (const path of this.#in[state]) {
      if (found.length >= limit) break;
      const entry = this.#entries.get(path);
      if (entry !== undefined) found.push([path, entry]);
    }
    return found;
  }
}

type Listed = Exclude<State, 'asked' | 'known'>;
