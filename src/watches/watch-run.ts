/** Scans the folders of one watch in its times, and tells its submitter when there are files to submit. */
import { toLatticeError } from '../api/errors.js';
import { isEnd } from '../api/events.js';
import { inTime } from '../base/in-time.js';
import type { Logger } from '../base/logger-port.js';
import { placesOfForms } from '../files/image-paths.js';
import type { FolderScanner, OpenFolders } from '../files/folder-scanner.js';
import type { ScanReport } from '../files/listing/folder-scan.js';
import type { FileCounts } from '../files/listing/seen-files.js';
import type { JobEvent } from '../store/job.js';
import type { JobService } from '../jobs/job-service.js';
import type { WatchLedger } from './watch-ledger.js';
import { ownerOf } from '../store/owner.js';
import type { FileDone, StoredWatch } from '../store/watched.js';
import { isScheduled } from './schedule.js';
import { FILES_PER_CALL, WatchSubmitter } from './watch-submitter.js';

/**
 * The state is computed, and the first that applies is it:
 *
 *   paused     a request has set it; files that were there before the watch are still listed
 *   away       the last scan has found none of its paths, or their volume does not answer; this and the reason stay
 *              until the next scan, also while none is made
 *   listing    files that were there before the watch are being told from new ones, until a whole scan has them in
 *              the ledger; a path that is added later begins here again, and files of the other paths wait too
 *   active     it is within its times
 *   scheduled  it waits for its times and scans nothing
 */
export const WATCH_STATES = ['active', 'listing', 'paused', 'scheduled', 'away'] as const;
export type WatchState = (typeof WATCH_STATES)[number];

export interface WatchRunParts {
  ledger: WatchLedger;
  jobs: Pick<JobService, 'submitFiles'>;
  scanner: FolderScanner;
  imageRoots: readonly string[];
  /** False: changes are found by scans only. */
  notices: boolean;
  logger: Logger;
  /** Seconds from the arrival of a file to its result. */
  onLag: (watch: string, seconds: number) => void;
}

/** State, counts and last scan of a watch at the moment. */
export interface WatchProgress {
  state: WatchState;
  reason: string | null;
  counts: FileCounts | null;
  report: ScanReport | null;
  /** Unix seconds. */
  scannedAt: number | null;
  lag: { p50: number; p99: number } | null;
}

/** A pause between two scans ends by its time, by something new in the folders, or by a change of the watch. */
type PauseEnd = 'time' | 'notice' | 'change';

/** Least time between two scans. */
const SCAN_GAP_MS = 200;
/** The schedule is looked at so often. */
const IDLE_MS = 1_000;
const STOP_MS = 1_000;
const MISSING_CHECK_MS = 3_600_000;

export class WatchRun {
  readonly #parts: WatchRunParts;
  readonly #over = new AbortController();
  readonly #submitter: WatchSubmitter;
  #watch: StoredWatch;
  #folders: OpenFolders | null = null;
  #report: ScanReport | null = null;
  #scannedAt: number | null = null;
  #fault: string | null = null;
  #isAway = false;
  #missingAt = -Infinity;
  /** During a scan it is that of the next pause: a notice or a change during a scan shortens the pause after it. */
  #pauseEnd: PauseEnd = 'time';
  #onPauseEnd: () => void = () => undefined;
  /** Resolves after the first scan, a failed one too, or at once where nothing is to be scanned. */
  #ready: Promise<void>;
  #isReady: () => void = () => undefined;
  readonly #working: Promise<void>;

  constructor(watch: StoredWatch, parts: WatchRunParts) {
    this.#watch = watch;
    this.#parts = parts;
    this.#submitter = new WatchSubmitter({
      ...parts,
      watch: () => this.#watch,
      folders: () => this.#folders,
      maySubmit: () => this.#state === 'active' && !this.#over.signal.aborted,
      isOver: () => this.#over.signal.aborted,
      onFailure: (folders, thrown) => {
        this.#lose(folders, thrown);
      },
    });
    this.#ready = new Promise((resolve) => (this.#isReady = resolve));
    this.#working = this.#work();
  }

  get watch(): StoredWatch {
    return this.#watch;
  }

  get progress(): WatchProgress {
    return {
      state: this.#state,
      reason: this.#fault ?? this.#submitter.refusal,
      counts: this.#submitter.counts,
      report: this.#report,
      scannedAt: this.#scannedAt,
      lag: this.#submitter.lag,
    };
  }

  /** Resolves when the folders have been seen, or after `ms`. */
  async seen(ms: number): Promise<void> {
    await inTime(this.#ready, ms, undefined);
  }

  /** Replaces the watch from now on. */
  change(watch: StoredWatch): void {
    this.#watch = watch;
    this.#ready = new Promise((resolve) => (this.#isReady = resolve));
    this.#closeFolders();
    this.#endPause('change');
  }

  onEvent({ event, jobId, watch, keyId }: JobEvent): void {
    if (!isEnd(event)) return;
    if (watch !== this.#watch.name || ownerOf(keyId) !== this.#watch.owner) return;
    this.#submitter.onJobEnd(jobId);
  }

  onFileDone(file: FileDone): void {
    this.#submitter.onFileDone(file);
  }

  /** Resolves when it writes nothing any more. */
  async stop(): Promise<void> {
    this.#over.abort();
    this.#closeFolders();
    this.#endPause('change');
    // A volume that hangs is not waited for.
    await inTime(Promise.all([this.#working, this.#submitter.idle]), STOP_MS, []);
  }

  get #state(): WatchState {
    const { paused, schedule } = this.#watch;
    if (paused) return 'paused';
    if (this.#isAway) return 'away';
    if (this.#isListing) return 'listing';
    return isScheduled(schedule, new Date()) ? 'active' : 'scheduled';
  }

  get #isListing(): boolean {
    return this.#unlisted.length > 0;
  }

  get #unlisted(): string[] {
    const { paths, listed } = this.#watch;
    return paths.filter((path) => !listed.includes(path));
  }

  async #work(): Promise<void> {
    await this.#submitter.start();
    while (!this.#over.signal.aborted) {
      const start = performance.now();
      this.#pauseEnd = 'time';
      const { paused, schedule, intervalMs } = this.#watch;
      const isWanted = this.#isListing || (!paused && isScheduled(schedule, new Date()));
      if (isWanted) await this.#scan();
      else {
        this.#closeFolders();
        this.#isReady();
      }
      const took = performance.now() - start;
      await this.#pause(isWanted ? Math.max(intervalMs - took, took, SCAN_GAP_MS) : IDLE_MS);
    }
  }

  async #pause(ms: number): Promise<void> {
    const begun = performance.now();
    // Folders that change all the time are not scanned all the time.
    const gap = Math.max(SCAN_GAP_MS, 2 * (this.#report?.tookMs ?? 0));
    const lengths: Record<PauseEnd, number> = { time: ms, notice: Math.min(ms, gap), change: 0 };
    for (;;) {
      const left = begun + lengths[this.#pauseEnd] - performance.now();
      if (left <= 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#onPauseEnd = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  #endPause(by: Exclude<PauseEnd, 'time'>): void {
    if (this.#pauseEnd !== 'change') this.#pauseEnd = by;
    this.#onPauseEnd();
  }

  async #scan(): Promise<void> {
    const folders = this.#open();
    try {
      const report = await folders.call('scan');
      if (folders !== this.#folders) return;
      this.#report = report;
      this.#submitter.onScan(report.counts);
      this.#scannedAt = Date.now() / 1_000;
      const { faults, remarks } = report;
      this.#say(report.isAway, faultText([...faults, ...remarks]));
      if (this.#isListing) await this.#recordExisting(folders, report);
      this.#isReady();
      this.#submitter.askAgain();
      await this.#findMissing(folders, report);
    } catch (thrown) {
      // Folders that told of something and then failed are not scanned sooner than others that fail.
      if (this.#pauseEnd === 'notice') this.#pauseEnd = 'time';
      this.#lose(folders, thrown);
    }
  }

  #say(isAway: boolean, fault: string | null): void {
    if (isAway !== this.#isAway) {
      const facts = { watch: this.#watch.name, fault };
      if (isAway) this.#parts.logger.warn(facts, 'the folders of a watch are away');
      else this.#parts.logger.info(facts, 'the folders of a watch are there again');
    }
    this.#isAway = isAway;
    this.#fault = fault;
  }

  #open(): OpenFolders {
    if (this.#folders !== null) return this.#folders;
    const { imageRoots, notices, scanner } = this.#parts;
    const { number, paths, settleMs } = this.#watch;
    const spec = {
      watch: number,
      roots: imageRoots,
      paths: paths.map((path) => ({ path, places: placesOfForms(path, imageRoots) })),
      unlisted: this.#unlisted,
      settleMs,
      notices,
    };
    return (this.#folders = scanner.open(spec, (what) => {
      if (what === 'stable') this.#submitter.submitSoon();
      else this.#endPause('notice');
    }));
  }

  #closeFolders(): void {
    this.#folders?.close();
    this.#folders = null;
    this.#submitter.onClosed();
  }

  /** The process may have ended, or the store take no writes: what the scan knows is found again. */
  #lose(folders: OpenFolders, thrown: unknown): void {
    if (this.#over.signal.aborted || folders !== this.#folders) return;
    this.#closeFolders();
    const error = toLatticeError(thrown);
    const { cause, message } = error;
    this.#parts.logger.warn(
      { watch: this.#watch.name, error: message, cause: String(cause) },
      'a scan failed',
    );
    this.#isReady();
    if (error.code === 'volume_unavailable') this.#say(true, error.message);
    else this.#fault = error.code === 'internal_error' ? SCAN_ENDED : error.message;
  }

  /** Puts the files that were there first into the ledger; only then may the watch become active. */
  async #recordExisting(folders: OpenFolders, { isWhole }: ScanReport): Promise<void> {
    const { ledger } = this.#parts;
    const { number } = this.#watch;
    for (;;) {
      const files = await folders.call('nextExisting', FILES_PER_CALL);
      if (files.length === 0) break;
      await ledger.recordHandledFiles(number, files, Date.now() / 1_000);
    }
    if (!isWhole || folders !== this.#folders) return;
    const { paths } = this.#watch;
    await ledger.watchListed(number, paths);
    if (folders !== this.#folders) return;
    this.#watch = { ...this.#watch, listed: paths };
    await folders.call('listed');
  }

  /** Files that are gone stay in the ledger for a time, from when this was seen first. */
  async #findMissing(folders: OpenFolders, { isWhole }: ScanReport): Promise<void> {
    if (!isWhole || performance.now() - this.#missingAt < MISSING_CHECK_MS) return;
    this.#missingAt = performance.now();
    const { ledger } = this.#parts;
    for (let after = '', more = true; more && !this.#over.signal.aborted;) {
      const paths = await ledger.watchedPaths(this.#watch.number, after, FILES_PER_CALL);
      const missing = await folders.call('missing', paths);
      if (missing.length > 0)
        await ledger.filesMissing(this.#watch.number, missing, Date.now() / 1_000);
      after = paths.at(-1) ?? '';
      more = paths.length === FILES_PER_CALL;
    }
  }
}

const SCAN_ENDED = 'A scan ended before it was over; the folders are scanned again.';
const FAULTS_SHOWN = 3;

function faultText(faults: readonly string[]): string | null {
  if (faults.length === 0) return null;
  const more = faults.length - FAULTS_SHOWN;
  return faults.slice(0, FAULTS_SHOWN).join(' ') + (more > 0 ? ` And ${more} more.` : '');
}

/** Files that were seen and are in no job yet, and those whose place in one is not known yet. */
export function waitingFiles({ counts }: Pick<WatchProgress, 'counts'>): number {
  return counts === null ? 0 : counts.unstable + counts.stable + counts.new + counts.deferred;
}
