/**
 * What one watch sees of its folders. A scan looks at every image; what the system tells of changed folders only makes a
 * look come sooner. Each file is `moving` until two looks, `settleMs` apart by a clock that nobody sets, have found the
 * same version, or until it has been overwritten for `MOST_SETTLES` times as long. Then the service asks for it, says what its ledger knows of it, and submits what is `fresh`.
 */
import { join, posix } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { FileVersions, isFolder, isReadable, type FileVersion } from './file-versions.js';
import { findImages, GLOB_MAGIC, kindOf, literalPrefix, type Place } from './find-images.js';
import { FolderNotices } from './folder-notices.js';
import { addLeftOut, holdsPhotos, IMAGE_NAME, type LeftOut } from './image-names.js';
import { isPicture } from './open-beneath.js';
import { outsideText } from './resolve-beneath.js';

/** More are left out: they would take the memory of the process. */
const MOST_FILES = 500_000;
const SCAN_MS = 600_000;
const LOOKS_PER_TURN = 500;
/** A file that is overwritten for so many times `settleMs` is taken as it is; one that only grows is still being written. */
const MOST_SETTLES = 10;
const RESTLESS_NAMED = 3;
export interface ScanSpec {
  watch: number;
  roots: readonly string[];
  /** Each path of the watch, and where it may be. */
  paths: { path: string; places: Place[] }[];
  /** Of them those whose present files are told apart as `existing`. */
  unlisted: readonly string[];
  settleMs: number;
  /** False: scans only. */
  notices: boolean;
}

export interface SeenFile {
  path: string;
  version: string;
}

export interface FreshFile extends SeenFile {
  /** Since it arrived, as far as is known. */
  ageMs: number;
  isCopy: boolean;
}

/** `due`: ask for it again. */
export type Standing = 'due' | 'pending' | 'fresh' | 'copy' | 'known';

export interface ScanCounts {
  files: number;
  moving: number;
  due: number;
  fresh: number;
  pending: number;
  /** Since the first of the fresh ones arrived; 0 without one. */
  oldestFreshMs: number;
}

export interface ScanReport {
  counts: ScanCounts;
  /** Every folder could be read. */
  isWhole: boolean;
  /** For people; empty where all is well. */
  faults: string[];
  /** What people should know of files that are taken; empty where all is well. */
  remarks: string[];
  /** None of the paths is there. */
  isAway: boolean;
  /** Files that are not taken, by the reason. */
  skipped: Record<string, number>;
  tookMs: number;
  /** The system tells of changes in every folder. */
  noticed: boolean;
}

interface Entry {
  root: string;
  version: string;
  size: bigint;
  inode: bigint;
  /** Of the first look that found this version. */
  since: number;
  arrived: number;
  /** Of the first look that found it overwritten before it had come to rest or was taken. */
  restlessSince: number | null;
  standing: Standing | 'moving' | 'asked' | 'skipped';
  scan: number;
}

export class FolderScan {
  readonly #spec: ScanSpec;
  readonly #onDue: (what: 'due' | 'scan') => void;
  readonly #alive: () => void;
  readonly #notices: FolderNotices;
  readonly #entries = new Map<string, Entry>();
  /** The longest unchanged first. */
  readonly #moving = new Set<string>();
  readonly #due = new Set<string>();
  readonly #fresh = new Set<string>();
  readonly #pending = new Set<string>();
  readonly #skipped = new Set<string>();
  /** Taken although they did not come to rest. */
  readonly #restless = new Set<string>();
  readonly #versions: FileVersions;
  #existing: SeenFile[] = [];
  #unlisted: ReadonlySet<string>;
  #scan = 0;
  #scannedAt = performance.now();
  #isWhole = false;
  #settling: NodeJS.Timeout | undefined;

  /** `alive` is called at least every second while it works. */
  constructor(spec: ScanSpec, onDue: (what: 'due' | 'scan') => void, alive: () => void) {
    this.#spec = spec;
    this.#onDue = onDue;
    this.#alive = alive;
    this.#unlisted = new Set(spec.unlisted);
    this.#versions = new FileVersions(spec.roots);
    this.#notices = new FolderNotices(spec.notices, (root, paths) => {
      void this.#notice(root, paths);
    });
  }

  close(): void {
    this.#notices.close();
    clearTimeout(this.#settling);
    this.#entries.clear();
  }

  async scan(): Promise<ScanReport> {
    const start = performance.now();
    this.#scan += 1;
    const faults: string[] = [];
    const leftOut: LeftOut = {};
    let there = 0;
    this.#notices.begin();
    // Files of a path that is listed are no existing ones where another path names them too.
    const paths = [...this.#spec.paths].sort((a, b) => this.#order(a.path) - this.#order(b.path));
    for (const { path, places } of paths) {
      const whyNot = await this.#scanPath(path, places, faults, leftOut);
      if (whyNot === null) there += 1;
      else faults.push(whyNot);
    }
    this.#isWhole = faults.length === 0;
    if (this.#isWhole) this.#forget();
    const isNoticed = this.#notices.end();
    this.#scannedAt = start;
    this.#settle();
    return {
      counts: this.counts(),
      isWhole: this.#isWhole,
      faults,
      remarks: this.#remarks(),
      isAway: there === 0,
      skipped: { ...leftOut, ...this.#skippedFiles() },
      tookMs: performance.now() - start,
      noticed: isNoticed,
    };
  }

  counts(): ScanCounts {
    const [first = ''] = this.#fresh;
    const arrived = this.#entries.get(first)?.arrived;
    return {
      files: this.#entries.size,
      moving: this.#moving.size,
      due: this.#due.size,
      fresh: this.#fresh.size,
      pending: this.#pending.size,
      oldestFreshMs: arrived === undefined ? 0 : performance.now() - arrived,
    };
  }

  /** Files that were there when a path was scanned first; none once all have been given. */
  takeExisting(limit: number): SeenFile[] {
    return this.#existing.splice(0, limit);
  }

  /** All files of the paths that were scanned are in the ledger. */
  listed(): void {
    this.#unlisted = new Set();
  }

  /** Files that rest and that the ledger has not been asked about. */
  take(limit: number): SeenFile[] {
    const files: SeenFile[] = [];
    for (const path of this.#due) {
      if (files.length === limit) break;
      const entry = this.#entries.get(path);
      this.#due.delete(path);
      if (entry === undefined) continue;
      entry.standing = 'asked';
      files.push({ path, version: entry.version });
    }
    return files;
  }

  /** What the ledger says of files that were taken. A file that has changed since stays as it is. */
  judge(judged: readonly (SeenFile & { standing: Standing })[]): ScanCounts {
    for (const { path, version, standing } of judged) {
      const entry = this.#entries.get(path);
      if (entry?.version !== version || entry.standing !== 'asked') continue;
      entry.standing = standing;
      if (standing === 'fresh' || standing === 'copy') this.#fresh.add(path);
      if (standing === 'due') this.#due.add(path);
      if (standing === 'pending') this.#pending.add(path);
    }
    return this.counts();
  }

  /** Images of the watch have got their outcomes: the ledger may say something else now. */
  askAgain(): ScanCounts {
    for (const path of this.#pending) this.#place(path, 'due');
    return this.counts();
  }

  /** Files to submit, the first that arrived first. Each is looked at once more. */
  async takeFresh(limit: number): Promise<FreshFile[]> {
    const files: FreshFile[] = [];
    for (const path of [...this.#fresh].slice(0, limit)) {
      const before = this.#entries.get(path);
      if (before === undefined) continue;
      const { standing } = before;
      await this.#look(before.root, path);
      const entry = this.#entries.get(path);
      if (entry !== before || entry.version !== before.version) continue;
      this.#fresh.delete(path);
      entry.standing = 'asked';
      entry.restlessSince = null;
      const ageMs = performance.now() - entry.arrived;
      files.push({ path, version: entry.version, ageMs, isCopy: standing === 'copy' });
    }
    this.#settle();
    return files;
  }

  /** The present version of each path; null where there is no file, undefined where that is not known. */
  async current(paths: readonly string[]): Promise<(string | null | undefined)[]> {
    return Promise.all(
      paths.map(async (path) => {
        const known = this.#entries.get(path)?.root;
        for (const root of known === undefined ? this.#spec.roots : [known]) {
          const found = await this.#versions.read(root, path);
          if (found !== null) return found?.version;
        }
        return null;
      }),
    );
  }

  /** Those of the paths that have no file. None where the last scan does not show it, or has found nothing at all. */
  missing(paths: readonly string[]): string[] {
    if (!this.#isWhole || this.#entries.size === 0) return [];
    return paths.filter((path) => !this.#entries.has(path));
  }

  #order(path: string): number {
    return this.#unlisted.has(path) ? 1 : 0;
  }

  /** Null, or why nothing is at the path. */
  async #scanPath(
    path: string,
    places: readonly Place[],
    faults: string[],
    leftOut: LeftOut,
  ): Promise<string | null> {
    let isThere = false;
    let whyNot = `There is no folder '${path}', or it cannot be read.`;
    for (const place of places) {
      const { root, relative } = place;
      this.#alive();
      const kind = await kindOf(place);
      const isGlob = kind === 'absent' && GLOB_MAGIC.test(relative);
      const start = isGlob ? { ...place, relative: literalPrefix(relative) } : place;
      const from = isGlob ? await kindOf(start) : kind;
      if (typeof from === 'object') whyNot = outsideText(from);
      else if (from === 'folder') {
        await this.#scanFolder({ place, isGlob, path }, faults, leftOut);
        isThere = true;
      } else if (kind === 'file') {
        if (IMAGE_NAME.test(relative) || (await isPicture(place))) {
          await this.#lookAt(root, [relative], path);
          isThere = true;
        } else whyNot = `'${path}' is a file and no picture: there is no folder of that name.`;
      }
    }
    return isThere ? null : whyNot;
  }

  async #scanFolder(
    { place, isGlob, path }: { place: Place; isGlob: boolean; path: string },
    faults: string[],
    leftOut: LeftOut,
  ): Promise<void> {
    const { root } = place;
    const listing = { ...place, isFolder: !isGlob, cap: MOST_FILES, withinMs: SCAN_MS };
    const found = await findImages(listing, (folder, error) => {
      this.#alive();
      if (error === null) this.#notices.add(root, folder);
      else if (error.code !== 'ENOENT') {
        const name = posix.relative(root, folder);
        faults.push(`The folder '${name}' cannot be read: ${error.code ?? error.message}.`);
      }
    });
    addLeftOut(leftOut, found.leftOut);
    if (found.images.length > MOST_FILES)
      faults.push(`'${path}' has more than ${MOST_FILES} images: the others are left out.`);
    await this.#lookAt(root, found.images, path);
  }

  async #lookAt(root: string, images: readonly string[], ofPath: string): Promise<void> {
    const isExisting = this.#unlisted.has(ofPath);
    for (const [index, path] of images.entries()) {
      if (index % LOOKS_PER_TURN === LOOKS_PER_TURN - 1) {
        this.#alive();
        await setImmediate();
      }
      // A file of the same name in an earlier root is the one that is opened.
      if (this.#entries.get(path)?.scan === this.#scan) continue;
      const isNew = !this.#entries.has(path);
      const looked = this.#lookNow(root, path) ?? (await this.#look(root, path));
      if (!looked || !isNew || !isExisting) continue;
      const entry = this.#entries.get(path);
      if (entry === undefined) continue;
      this.#place(path, 'known');
      this.#existing.push({ path, version: entry.version });
    }
  }

  /** Files that a whole scan has not found. */
  #forget(): void {
    for (const [path, { scan }] of this.#entries) if (scan !== this.#scan) this.#drop(path);
  }

  #skippedFiles(): Record<string, number> {
    const skipped: Record<string, number> = {};
    for (const path of this.#skipped) {
      const reason = this.#entries.get(path)?.size === 0n ? 'empty' : 'no permission';
      skipped[reason] = (skipped[reason] ?? 0) + 1;
    }
    return skipped;
  }

  #remarks(): string[] {
    const count = this.#restless.size;
    if (count === 0) return [];
    const names = [...this.#restless].slice(0, RESTLESS_NAMED).map((path) => `'${path}'`);
    const more = count > RESTLESS_NAMED ? ` and ${count - RESTLESS_NAMED} more` : '';
    const are = count === 1 ? 'never rests: it is' : 'never rest: they are';
    const seconds = (MOST_SETTLES * this.#spec.settleMs) / 1_000;
    return [
      `${names.join(', ')}${more} ${are} overwritten again and again, and taken every ${seconds} s.`,
    ];
  }

  /** The system tells of these names. What they mean beyond a file that is known is for a scan to find out. */
  async #notice(root: string, paths: readonly string[]): Promise<void> {
    let isUnclear = false;
    for (const path of paths) {
      const entry = this.#entries.get(path);
      if (entry?.root === root || (entry === undefined && this.#isInFolder(root, path))) {
        await this.#look(root, path);
      } else isUnclear ||= IMAGE_NAME.test(path) || this.#isFolder(root, path);
    }
    this.#settle();
    if (isUnclear) this.#onDue('scan');
  }

  /** It is one, or was one at the last scan. */
  #isFolder(root: string, path: string): boolean {
    if (this.#notices.has(join(root, path))) return true;
    return isFolder(join(root, path));
  }

  /** As a walk of the folder would find it. */
  #isInFolder(root: string, path: string): boolean {
    if (!IMAGE_NAME.test(path) || this.#unlisted.size > 0) return false;
    return this.#spec.paths.some(({ places }) =>
      places.some((place, at) => {
        if (at > 0 || place.root !== root || GLOB_MAGIC.test(place.relative)) return false;
        const inFolder = place.relative === '.' ? path : path.slice(place.relative.length + 1);
        const isBeneath = place.relative === '.' || path.startsWith(`${place.relative}/`);
        return isBeneath && inFolder.split('/').every((name) => holdsPhotos(name));
      }),
    );
  }

  async #look(root: string, path: string): Promise<boolean> {
    return this.#took(root, path, await this.#versions.read(root, path));
  }

  /** Null: it takes more than one call. */
  #lookNow(root: string, path: string): boolean | null {
    const found = this.#versions.now(root, path);
    return found === 'slow' ? null : this.#took(root, path, found);
  }

  /** False: there is no file. */
  #took(root: string, path: string, found: FileVersion | null | undefined): boolean {
    let entry = this.#entries.get(path);
    if (found === undefined) {
      if (entry !== undefined) entry.scan = this.#scan;
      return true;
    }
    if (found === null) {
      this.#drop(path);
      return false;
    }
    const now = performance.now();
    if (entry?.version !== found.version) entry = this.#changed(root, path, found, now);
    entry.scan = this.#scan;
    const isRestless = this.#isRestless(entry, now);
    const rests = now - entry.since >= this.#spec.settleMs;
    if (rests) this.#restless.delete(path);
    else if (isRestless) this.#restless.add(path);
    const { standing } = entry;
    // One that is overwritten is empty for a moment.
    const isDue = rests || (isRestless && entry.size > 0n);
    if ((standing === 'moving' && isDue) || standing === 'skipped') {
      const isTaken = entry.size > 0n && isReadable(found.onDisk);
      this.#place(path, isTaken ? 'due' : 'skipped');
    }
    return true;
  }

  #isRestless({ restlessSince }: Entry, now: number): boolean {
    return restlessSince !== null && now - restlessSince >= MOST_SETTLES * this.#spec.settleMs;
  }

  /** Another version of the file is there. */
  #changed(root: string, path: string, found: FileVersion, now: number): Entry {
    const { version, size, inode } = found;
    const before = this.#entries.get(path);
    const isOpen =
      before !== undefined && !['known', 'pending', 'skipped'].includes(before.standing);
    const grows = before?.inode === inode && size > before.size;
    const restlessSince = isOpen ? (before.restlessSince ?? (grows ? null : now)) : null;
    if (before?.standing === 'fresh' && this.#isRestless(before, now)) {
      // By the time it is submitted there is always another version.
      return Object.assign(before, { version, size, inode, since: now });
    }
    const wasRestless = this.#restless.has(path);
    this.#drop(path);
    const entry: Entry = {
      ...{ root, version, size, inode, since: now, restlessSince },
      arrived: this.#arrival(found.changedAt, now),
      standing: 'moving',
      scan: this.#scan,
    };
    this.#entries.set(path, entry);
    this.#moving.add(path);
    if (wasRestless) this.#restless.add(path);
    return entry;
  }

  /** When the file changed, where its clock and ours show that this was since the last scan. */
  #arrival(changedAt: number, now: number): number {
    const age = Date.now() - changedAt;
    const arrived = now - age;
    return age >= 0 && arrived >= this.#scannedAt ? arrived : now;
  }

  #place(path: string, standing: 'due' | 'skipped' | 'known'): void {
    const entry = this.#entries.get(path);
    if (entry === undefined) return;
    for (const set of [this.#moving, this.#pending, this.#skipped]) set.delete(path);
    entry.standing = standing;
    if (standing === 'due') this.#due.add(path);
    if (standing === 'skipped') this.#skipped.add(path);
  }

  #drop(path: string): void {
    this.#entries.delete(path);
    for (const set of [this.#moving, this.#due, this.#fresh, this.#pending]) set.delete(path);
    for (const set of [this.#skipped, this.#restless]) set.delete(path);
  }

  /** Looks at moving files again when they have rested long enough, and says what is due. */
  #settle(): void {
    clearTimeout(this.#settling);
    if (this.#due.size > 0) this.#onDue('due');
    const [first] = this.#moving;
    const entry = first === undefined ? undefined : this.#entries.get(first);
    if (entry === undefined) return;
    const wait = entry.since + this.#spec.settleMs - performance.now();
    this.#settling = setTimeout(() => void this.#lookAtMoving(), Math.max(1, Math.ceil(wait)));
  }

  async #lookAtMoving(): Promise<void> {
    const before = performance.now() - this.#spec.settleMs;
    let looks = 0;
    for (const path of [...this.#moving]) {
      const entry = this.#entries.get(path);
      if (entry === undefined || entry.since > before) continue;
      await this.#look(entry.root, path);
      looks += 1;
      if (looks % LOOKS_PER_TURN !== 0) continue;
      this.#alive();
      await setImmediate();
    }
    this.#settle();
  }
}
