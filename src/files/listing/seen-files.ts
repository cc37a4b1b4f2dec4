/**
 * The files that one watch has seen, by path: the version of each, and how far it has come. Every change of a state is
 * made by `#become`, a new version of a file begins anew.
 *
 *                look           takeStable          answer
 *   unstable ──────────▶ stable ──────────▶ asked ──────────▶ handled
 *     │                   ▲ ▲                │ ▲ ├──────────▶ deferred ── askAgain ──▶ stable
 *     │ empty, or no      │ └──── answer ────┘ │ └──────────▶ new
 *     ▼ permission        │                    └─── takeNew ───┘
 *   skipped ──── look ────┘
 *
 * A new version of a file begins at `unstable`; `takeAsHandled` makes a file `handled` from any state; a handled file
 * whose image was not read is `stable` after `askAgain`; a file that a whole scan does not find is dropped. A skipped
 * file whose permission was given is stable at the next look; one that gets content has a new version.
 *
 * A file is stable when two looks, `settleMs` apart by a clock that nobody sets, have found the same version. A
 * restless one, which is overwritten for `MOST_SETTLES` times as long, counts as stable without that.
 */
import { isReadable, type FileStatus, type FoundStatus } from './file-versions.js';

/** A file that is overwritten for so many times `settleMs` is taken; one that only grows is still being written. */
const MOST_SETTLES = 10;
const RESTLESS_NAMED = 3;

export interface SeenFile {
  path: string;
  version: string;
}

export interface NewFile extends SeenFile {
  /** Since it arrived, as far as is known. */
  ageMs: number;
  isCopy: boolean;
}

/** State of a file in the ledger. `stable`: ask for it again. `copy`: new, and other files have its version. */
export type Standing = 'stable' | 'deferred' | 'new' | 'copy' | 'handled';

export interface FileCounts {
  files: number;
  unstable: number;
  stable: number;
  new: number;
  deferred: number;
  /** Since the first of the new ones arrived; 0 without one. */
  oldestNewMs: number;
}

type State = 'unstable' | 'skipped' | 'stable' | 'asked' | 'deferred' | 'new' | 'handled';

interface SeenEntry {
  root: string;
  version: string;
  size: bigint;
  inode: bigint;
  /** Time of the first look that found this version. */
  since: number;
  arrived: number;
  /** Time of the first look that found it overwritten before it was stable or taken. */
  restlessSince: number | null;
  state: State;
  isCopy: boolean;
  scan: number;
}

export class SeenFiles {
  readonly #settleMs: number;
  readonly #entries = new Map<string, SeenEntry>();
  /** Paths by state, in the order in which they came to it. Handled files, which are most, are in no second list. */
  readonly #in: Partial<Record<State, Set<string>>> & Record<IndexedState, Set<string>> = {
    unstable: new Set(),
    skipped: new Set(),
    stable: new Set(),
    deferred: new Set(),
    new: new Set(),
  };
  /** Taken although they did not become stable. */
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
    const [first = ''] = this.#in.new;
    const arrived = this.#entries.get(first)?.arrived;
    return {
      files: this.#entries.size,
      unstable: this.#in.unstable.size,
      stable: this.#in.stable.size,
      new: this.#in.new.size,
      deferred: this.#in.deferred.size,
      oldestNewMs: arrived === undefined ? 0 : performance.now() - arrived,
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
  look(root: string, path: string, found: FoundStatus): boolean {
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
    this.#updateState(path, entry, found, now);
    return true;
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Its version is given, and needs no answer of the ledger. */
  takeAsHandled(path: string): SeenFile | null {
    const entry = this.#entries.get(path);
    if (entry === undefined) return null;
    this.#become(path, entry, 'handled');
    return { path, version: entry.version };
  }

  /** Stable files, about which the ledger is now asked. */
  takeStable(limit: number): SeenFile[] {
    return this.#first('stable', limit).map(([path, entry]) => {
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
      this.#become(path, entry, standing === 'copy' ? 'new' : standing);
    }
  }

  /** The ledger may say something else now: of deferred files, and of handled ones whose images were not read. */
  askAgain(notRead: readonly string[]): void {
    for (const [path, entry] of this.#first('deferred', Infinity))
      this.#become(path, entry, 'stable');
    for (const path of notRead) {
      const entry = this.#entries.get(path);
      if (entry?.state === 'handled') this.#become(path, entry, 'stable');
    }
  }

  /** The new files that came first. `lookAgain` looks at each: one that has another version by then is not taken. */
  async takeNew(
    limit: number,
    lookAgain: (root: string, path: string) => Promise<unknown>,
  ): Promise<NewFile[]> {
    const files: NewFile[] = [];
    for (const [path, entry] of this.#first('new', limit)) {
      await lookAgain(entry.root, path);
      if (this.#entries.get(path) !== entry || entry.state !== 'new') continue;
      this.#become(path, entry, 'asked');
      entry.restlessSince = null;
      const { version, arrived, isCopy } = entry;
      files.push({ path, version, ageMs: performance.now() - arrived, isCopy });
    }
    return files;
  }

  /** Until the settle time of the first unstable file has passed; null without one. */
  get msUntilStable(): number | null {
    const [first] = this.#first('unstable', 1);
    return first === undefined ? null : first[1].since + this.#settleMs - performance.now();
  }

  /** Unstable files whose settle time has passed: each is stable if a look finds the same version. */
  settled(): { root: string; path: string }[] {
    const before = performance.now() - this.#settleMs;
    return this.#first('unstable', Infinity).flatMap(([path, { root, since }]) =>
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

  /** For people; empty where every file becomes stable. */
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
  #updateState(path: string, entry: SeenEntry, found: FileStatus, now: number): void {
    const isSettled = now - entry.since >= this.#settleMs;
    const isRestless = this.#isRestless(entry, now);
    if (isSettled) this.#restless.delete(path);
    else if (isRestless) this.#restless.add(path);
    // One that is overwritten is empty for a moment.
    const isStable = isSettled || (isRestless && entry.size > 0n);
    if ((entry.state === 'unstable' && isStable) || entry.state === 'skipped') {
      const isTaken = entry.size > 0n && isReadable(found.onDisk);
      this.#become(path, entry, isTaken ? 'stable' : 'skipped');
    }
  }

  #isRestless({ restlessSince }: SeenEntry, now: number): boolean {
    return restlessSince !== null && now - restlessSince >= MOST_SETTLES * this.#settleMs;
  }

  /** A restless file stays new under its new version: by the time it is submitted there is always another one. */
  #replaced(path: string, found: FileStatus, now: number): SeenEntry | null {
    const entry = this.#entries.get(path);
    if (entry?.state !== 'new' || !this.#isRestless(entry, now)) return null;
    const { version, size, inode } = found;
    return Object.assign(entry, { version, size, inode, since: now });
  }

  #add(root: string, path: string, found: FileStatus, now: number): SeenEntry {
    const { version, size, inode } = found;
    const restlessSince = this.#restlessSince(path, found, now);
    const wasRestless = this.#restless.has(path);
    this.#drop(path);
    const entry: SeenEntry = {
      ...{ root, version, size, inode, since: now, restlessSince },
      arrived: this.#arrival(found, now),
      state: 'unstable',
      isCopy: false,
      scan: this.#scan,
    };
    this.#entries.set(path, entry);
    this.#become(path, entry, 'unstable');
    if (wasRestless) this.#restless.add(path);
    return entry;
  }

  #restlessSince(path: string, { inode, size }: FileStatus, now: number): number | null {
    const before = this.#entries.get(path);
    if (before === undefined || ['handled', 'deferred', 'skipped'].includes(before.state))
      return null;
    const grows = before.inode === inode && size > before.size;
    return before.restlessSince ?? (grows ? null : now);
  }

  /** When the file changed, where its clock and ours show that this was since the last scan. */
  #arrival({ changedAt }: FileStatus, now: number): number {
    const age = Date.now() - changedAt;
    const arrived = now - age;
    return age >= 0 && arrived >= this.#scannedAt ? arrived : now;
  }

  #become(path: string, entry: SeenEntry, state: State): void {
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

  #first(state: IndexedState, limit: number): [string, SeenEntry][] {
    const found: [string, SeenEntry][] = [];
    for (const path of this.#in[state]) {
      if (found.length >= limit) break;
      const entry = this.#entries.get(path);
      if (entry !== undefined) found.push([path, entry]);
    }
    return found;
  }
}

type IndexedState = Exclude<State, 'asked' | 'handled'>;
