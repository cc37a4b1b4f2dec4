/** Folders whose new files are submitted as they come. Each API key has its own watches. */
import { LatticeError } from '../api/errors.js';
import { NO_ALLOWANCES, type Allowances } from '../store/allowances.js';
import type { Logger } from '../base/logger-port.js';
import { FolderScanner } from '../files/folder-scanner.js';
import type { JobService } from '../jobs/job-service.js';
import type { FindingKind } from '../cameras/camera-health.js';
import type { CameraRecord, FindingAction } from '../store/cameras/health-rows.js';
import { ownerOf } from '../store/owner.js';
import type { WatchLedger } from './watch-ledger.js';
import {
  watchNotFound,
  type StoredWatch,
  type WatchContent,
  type WatchCounts,
} from '../store/watched.js';
import { CameraChecks } from './camera-checks.js';
import { WatchRun, type WatchProgress } from './watch-run.js';

export interface WatchesOptions {
  ledger: WatchLedger;
  jobs: Pick<JobService, 'submitFiles' | 'onEvent'>;
  imageRoots: readonly string[];
  logger: Logger;
  /** False: the system is not asked to tell of changed folders. */
  notices?: boolean;
  onLag?: (watch: string, seconds: number) => void;
  /** Limits per API key. */
  allowances?: Allowances;
}

/** A watch as it is, with what it sees and has done. */
export interface WatchSnapshot {
  watch: StoredWatch;
  progress: WatchProgress;
  counts: WatchCounts;
}

/** How long the answer to a new watch waits until the files that are there are in the ledger. */
const SEEN_MS = 10_000;

export class Watches {
  readonly #options: Required<WatchesOptions>;
  readonly #scanner = new FolderScanner();
  readonly #runs = new Map<number, WatchRun>();
  readonly #checks: CameraChecks;
  #stopped = false;

  private constructor(options: WatchesOptions) {
    this.#options = {
      notices: true,
      onLag: () => undefined,
      allowances: NO_ALLOWANCES,
      ...options,
    };
    const { ledger, logger } = options;
    this.#checks = new CameraChecks(ledger, () => this.#runs.values(), logger);
  }

  /** Their work begins at once. */
  static async open(options: WatchesOptions): Promise<Watches> {
    const watches = new Watches(options);
    for (const watch of await options.ledger.watches()) watches.#run(watch);
    options.jobs.onEvent((event) => {
      if (event.watch) for (const run of watches.#runs.values()) run.onEvent(event);
    });
    options.ledger.onFilesDone((files) => {
      for (const file of files) watches.#runs.get(file.watch)?.onFileDone(file);
    });
    return watches;
  }

  /** By name, without those that are deleted meanwhile. */
  async list(keyId: string | null): Promise<WatchSnapshot[]> {
    const runs = [...this.#runs.values()].filter(({ watch }) => watch.owner === ownerOf(keyId));
    runs.sort((a, b) => (a.watch.name < b.watch.name ? -1 : 1));
    const listed = await Promise.all(runs.map((run) => this.#snapshot(run).catch(nullIfDeleted)));
    return listed.filter((each) => each !== null);
  }

  /** Rejects with `watch_not_found`. */
  async get(name: string, keyId: string | null): Promise<WatchSnapshot> {
    return this.#snapshot(this.#named(name, keyId));
  }

  /** How many each owner has; empty without authentication. */
  counts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { watch } of this.#runs.values()) {
      counts.set(watch.owner, (counts.get(watch.owner) ?? 0) + 1);
    }
    return counts;
  }

  /** Progress of the watches of all owners, for metrics. */
  progress(): { name: string; progress: WatchProgress }[] {
    return [...this.#runs.values()].map(({ watch, progress }) => ({ name: watch.name, progress }));
  }

  /**
   * Resolves once it is on disk and has looked at the files that are there. Rejects with `watch_exists` or
   * `quota_exceeded`.
   */
  async add(name: string, content: WatchContent, keyId: string | null): Promise<WatchSnapshot> {
    const { ledger, allowances } = this.#options;
    const allowance = allowances.of('watches', keyId);
    const at = Date.now() / 1_000;
    const listed = content.existing === 'take' ? content.paths : [];
    const run = this.#run(
      await ledger.addWatch(ownerOf(keyId), name, content, listed, at, allowance),
    );
    await run.seen(SEEN_MS);
    return this.#snapshot(run);
  }

  /** `content` is made of the watch as it is. Rejects with `watch_not_found`. */
  async change(
    name: string,
    keyId: string | null,
    content: (watch: StoredWatch) => Promise<WatchContent>,
  ): Promise<WatchSnapshot> {
    const run = this.#named(name, keyId);
    const changed = await content(run.watch);
    const { number, listed } = run.watch;
    const kept = changed.paths.filter(
      (path) => changed.existing === 'take' || listed.includes(path),
    );
    run.change(await this.#options.ledger.changeWatch(number, changed, kept));
    await run.seen(SEEN_MS);
    return this.#snapshot(run);
  }

  /** Its jobs go on. Rejects with `watch_not_found`. */
  async remove(name: string, keyId: string | null): Promise<void> {
    const run = this.#named(name, keyId);
    const { number } = run.watch;
    await this.#options.ledger.deleteWatch(number);
    this.#runs.delete(number);
    await run.stop();
  }

  /** The cameras of a watch, by name. Rejects with `watch_not_found`. */
  async cameras(name: string, keyId: string | null): Promise<CameraRecord[]> {
    return this.#options.ledger.cameras(this.#named(name, keyId).watch.number);
  }

  /** False: the camera has no such open finding. Rejects with `watch_not_found`. */
  async changeFinding(
    name: string,
    keyId: string | null,
    ...[camera, kind, action]: [camera: string, kind: FindingKind, action: FindingAction]
  ): Promise<boolean> {
    const { number } = this.#named(name, keyId).watch;
    return this.#options.ledger.changeFinding(number, camera, kind, action, Date.now() / 1_000);
  }

  /** How many findings of each kind are open, over all owners; kinds without one are left out. */
  openFindings(): ReturnType<WatchLedger['openFindings']> {
    return this.#options.ledger.openFindings();
  }

  /** Submits nothing any more. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const runs = [...this.#runs.values()];
    await Promise.all([this.#checks.stop(), ...runs.map((run) => run.stop())]);
    this.#scanner.close();
  }

  #run(watch: StoredWatch): WatchRun {
    const run = new WatchRun(watch, { ...this.#options, scanner: this.#scanner });
    if (this.#stopped) void run.stop();
    this.#runs.set(watch.number, run);
    return run;
  }

  #named(name: string, keyId: string | null): WatchRun {
    const owner = ownerOf(keyId);
    for (const run of this.#runs.values()) {
      if (run.watch.name === name && run.watch.owner === owner) return run;
    }
    throw watchNotFound(name);
  }

  /** Rejects with `watch_not_found` where it is deleted meanwhile. */
  async #snapshot(run: WatchRun): Promise<WatchSnapshot> {
    const { number, name } = run.watch;
    const counts = await this.#options.ledger.watchCounts(number).catch((error: unknown) => {
      // The ledger knows its number alone.
      throw isDeleted(error) ? watchNotFound(name) : error;
    });
    return { watch: run.watch, progress: run.progress, counts };
  }
}

function isDeleted(error: unknown): boolean {
  return error instanceof LatticeError && error.code === 'watch_not_found';
}

function nullIfDeleted(error: unknown): null {
  if (isDeleted(error)) return null;
  throw error;
}
