/**
 * Scans the folders of one watch. A scan looks at every image; what the system tells of changed folders only makes a
 * look come sooner. What is known of each file is in `SeenFiles`: the service takes those that are stable, says what
 * its ledger knows of them, and submits the new ones.
 */
import { join, posix } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { FileVersions, isFolder } from './file-versions.js';
import { findImages, GLOB_MAGIC, kindOf, literalPrefix, type Place } from './find-images.js';
import { FolderNotices } from './folder-notices.js';
import { addLeftOut, type LeftOut } from '../../api/left-out.js';
import { holdsPhotos, IMAGE_NAME } from './image-names.js';
import { isPicture } from './open-beneath.js';
import { outsideText } from './resolve-beneath.js';
import {
  SeenFiles,
  type FileCounts,
  type NewFile,
  type SeenFile,
  type Standing,
} from './seen-files.js';

/** More are left out: they would take the memory of the process. */
const MOST_FILES = 500_000;
const SCAN_MS = 600_000;
const LOOKS_PER_TURN = 500;

export interface ScanSpec {
  watch: number;
  roots: readonly string[];
  /** Each path of the watch, and where it may be. */
  paths: { path: string; places: Place[] }[];
  /** Those of `paths` whose present files are told apart as `existing`. */
  unlisted: readonly string[];
  settleMs: number;
  /** False: scans only. */
  notices: boolean;
}

export interface ScanReport {
  counts: FileCounts;
  /** Every folder could be read. */
  isWhole: boolean;
  /** For people; empty where all is well. */
  faults: string[];
  /** Remarks for people on files that are taken; empty where all is well. */
  remarks: string[];
  /** None of the paths is there. */
  isAway: boolean;
  /** Files that are not taken, by the reason. */
  skipped: Record<string, number>;
  tookMs: number;
  /** The system tells of changes in every folder. */
  noticed: boolean;
}

export class FolderScan {
  readonly #spec: ScanSpec;
  readonly #notify: (what: 'stable' | 'scan') => void;
  readonly #alive: () => void;
  readonly #notices: FolderNotices;
  readonly #files: SeenFiles;
  readonly #versions: FileVersions;
  #existing: SeenFile[] = [];
  #unlisted: ReadonlySet<string>;
  #isWhole = false;
  #settleTimer: NodeJS.Timeout | undefined;

  /** `alive` is called at least every second while it works. */
  constructor(spec: ScanSpec, notify: (what: 'stable' | 'scan') => void, alive: () => void) {
    this.#spec = spec;
    this.#notify = notify;
    this.#alive = alive;
    this.#unlisted = new Set(spec.unlisted);
    this.#files = new SeenFiles(spec.settleMs);
    this.#versions = new FileVersions(spec.roots);
    this.#notices = new FolderNotices(spec.notices, (root, paths) => {
      void this.#onNames(root, paths);
    });
  }

  close(): void {
    this.#notices.close();
    clearTimeout(this.#settleTimer);
    this.#files.clear();
  }

  async scan(): Promise<ScanReport> {
    const start = performance.now();
    this.#files.beginScan();
    const faults: string[] = [];
    const leftOut: LeftOut = {};
    let there = 0;
    this.#notices.begin();
    // Scan listed paths first: a file under both a listed and an unlisted path must count as new, not as existing.
    const paths = [...this.#spec.paths].sort((a, b) => this.#order(a.path) - this.#order(b.path));
    for (const { path, places } of paths) {
      const whyNot = await this.#scanPath(path, places, faults, leftOut);
      if (whyNot === null) there += 1;
      else faults.push(whyNot);
    }
    this.#isWhole = faults.length === 0;
    this.#files.endScan(this.#isWhole);
    const isNoticed = this.#notices.end();
    this.#armSettleTimer();
    return {
      counts: this.counts(),
      isWhole: this.#isWhole,
      faults,
      remarks: this.#files.remarks,
      isAway: there === 0,
      skipped: { ...leftOut, ...this.#files.skipped },
      tookMs: performance.now() - start,
      noticed: isNoticed,
    };
  }

  counts(): FileCounts {
    return this.#files.counts;
  }

  /** Files that were there when a path was scanned first; none once all have been given. */
  nextExisting(limit: number): SeenFile[] {
    return this.#existing.splice(0, limit);
  }

  /** All files of the paths that were scanned are in the ledger. */
  listed(): void {
    this.#unlisted = new Set();
  }

  /** Stable files, about which the ledger is now asked. */
  takeStable(limit: number): SeenFile[] {
    return this.#files.takeStable(limit);
  }

  /** Takes the answers of the ledger about files that were taken. */
  answer(answers: readonly (SeenFile & { standing: Standing })[]): FileCounts {
    this.#files.answer(answers);
    return this.#files.counts;
  }

  /** Images of the watch have got their outcomes: the ledger may say something else now. */
  askAgain(notRead: readonly string[]): FileCounts {
    this.#files.askAgain(notRead);
    return this.#files.counts;
  }

  /** Files to submit, the first that arrived first. Each is looked at once more. */
  async takeNew(limit: number): Promise<NewFile[]> {
    const files = await this.#files.takeNew(limit, (root, path) => this.#look(root, path));
    this.#armSettleTimer();
    return files;
  }

  /** The present version of each path; null where there is no file, undefined where that is not known. */
  async current(paths: readonly string[]): Promise<(string | null | undefined)[]> {
    return Promise.all(
      paths.map(async (path) => {
        const known = this.#files.rootOf(path);
        for (const root of known === null ? this.#spec.roots : [known]) {
          const found = await this.#versions.read(root, path);
          if (found !== null) return found?.version;
        }
        return null;
      }),
    );
  }

  /**
   * The given paths that have no file. Returns none after an incomplete or empty scan, because an unmounted volume
   * looks like missing files.
   */
  missing(paths: readonly string[]): string[] {
    if (!this.#isWhole || this.#files.size === 0) return [];
    return paths.filter((path) => !this.#files.has(path));
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
      if (this.#files.isFound(path)) continue;
      const isNew = !this.#files.has(path);
      const isThere = this.#lookNow(root, path) ?? (await this.#look(root, path));
      if (!isThere || !isNew || !isExisting) continue;
      const file = this.#files.takeAsHandled(path);
      if (file !== null) this.#existing.push(file);
    }
  }

  /** Looks at each changed file it can identify; any other change asks for a scan. */
  async #onNames(root: string, paths: readonly string[]): Promise<void> {
    let isUnclear = false;
    for (const path of paths) {
      const known = this.#files.rootOf(path);
      if (known === root || (known === null && this.#isInFolder(root, path))) {
        await this.#look(root, path);
      } else isUnclear ||= IMAGE_NAME.test(path) || this.#isFolder(root, path);
    }
    this.#armSettleTimer();
    if (isUnclear) this.#notify('scan');
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

  /** False: there is no file. */
  async #look(root: string, path: string): Promise<boolean> {
    return this.#files.look(root, path, await this.#versions.read(root, path));
  }

  /** Null: it takes more than one call. */
  #lookNow(root: string, path: string): boolean | null {
    const found = this.#versions.now(root, path);
    return found === 'slow' ? null : this.#files.look(root, path, found);
  }

  /** Looks at unstable files again when their settle time has passed, and says that some are stable. */
  #armSettleTimer(): void {
    clearTimeout(this.#settleTimer);
    if (this.#files.counts.stable > 0) this.#notify('stable');
    const wait = this.#files.msUntilStable;
    if (wait === null) return;
    this.#settleTimer = setTimeout(() => void this.#lookAtSettled(), Math.max(1, Math.ceil(wait)));
  }

  async #lookAtSettled(): Promise<void> {
    for (const [index, { root, path }] of this.#files.settled().entries()) {
      await this.#look(root, path);
      if ((index + 1) % LOOKS_PER_TURN !== 0) continue;
      this.#alive();
      await setImmediate();
    }
    this.#armSettleTimer();
  }
}
