/** Names of changed files, where the system tells of them (inotify). Nothing depends on them: scans find the same. */
import { statSync, watch, type FSWatcher } from 'node:fs';
import { posix } from 'node:path';

/** Limit of one watch; the system has a limit for all programs of a user. */
const MOST_FOLDERS = 4_096;
/** A burst of writes to a file is one notice. */
const BURST_MS = 10;

interface Noticed {
  watcher: FSWatcher;
  /** Which folder it is: another one may come to its place. */
  identity: string;
  scan: number;
}

export class FolderNotices {
  readonly #onNames: (root: string, paths: string[]) => void;
  readonly #folders = new Map<string, Noticed>();
  readonly #names = new Map<string, Set<string>>();
  readonly #isWanted: boolean;
  #isRefused = false;
  #scan = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `onNames` gets paths relative to the root. */
  constructor(isWanted: boolean, onNames: (root: string, paths: string[]) => void) {
    this.#isWanted = isWanted;
    this.#onNames = onNames;
  }

  /** A scan begins. */
  begin(): void {
    this.#scan += 1;
    this.#isRefused = !this.#isWanted;
  }

  /** The scan reads this folder. */
  add(root: string, path: string): void {
    const folder = posix.join(path, '.');
    if (!this.#isWanted) return;
    const identity = identityOf(folder);
    const known = this.#folders.get(folder);
    if (known?.identity === identity) known.scan = this.#scan;
    else if (this.#folders.size >= MOST_FOLDERS) this.#isRefused = true;
    else if (!this.#isRefused) {
      known?.watcher.close();
      this.#subscribe(root, folder, identity);
    }
  }

  /** There are notices of this folder. */
  has(folder: string): boolean {
    return this.#folders.has(folder);
  }

  /** Ends the notices of folders that are gone. True: there are notices of every folder. */
  end(): boolean {
    for (const [folder, { watcher, scan }] of this.#folders) {
      if (scan === this.#scan) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    return !this.#isRefused;
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const { watcher } of this.#folders.values()) watcher.close();
    this.#folders.clear();
  }

  #subscribe(root: string, folder: string, identity: string): void {
    try {
      const watcher = watch(folder, (_type, name) => {
        this.#changed(root, name === null ? folder : posix.join(folder, name));
      });
      watcher.on('error', () => {
        watcher.close();
        this.#folders.delete(folder);
      });
      this.#folders.set(folder, { watcher, identity, scan: this.#scan });
      // A look now covers the changes from before the notices began.
      this.#changed(root, folder);
    } catch {
      this.#isRefused = true;
    }
  }

  #changed(root: string, path: string): void {
    const names = this.#names.get(root) ?? new Set<string>();
    this.#names.set(root, names.add(posix.relative(root, path)));
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const [each, paths] of this.#names) this.#onNames(each, [...paths]);
      this.#names.clear();
    }, BURST_MS);
  }
}

function identityOf(folder: string): string {
  try {
    const { dev, ino } = statSync(folder, { bigint: true });
    return `${dev}-${ino}`;
  } catch {
    // It went away, or is no folder any more: the scan finds out.
    return '';
  }
}
