/**
 * The work of one watch: scans its folders, asks the ledger about files at rest, and submits those that are new. The
 * ledger alone decides; what is in memory here and in the scanning process may be lost at any time.
 */
import { toLatticeError } from '../api/errors.js';
import { isEnd } from '../api/events.js';
import { inTime } from '../base/in-time.js';
import type { Logger } from '../base/logger-port.js';
import { placesOfForms } from '../files/image-paths.js';
import type { FolderScanner, OpenFolders } from '../files/folder-scanner.js';
import type {
  FreshFile,
  ScanCounts,
  ScanReport,
  SeenFile,
  Standing,
} from '../files/listing/folder-scan.js';
import type { JobEvent } from '../store/job.js';
import type { JobService } from '../jobs/job-service.js';
import { taskId } from '../store/job-records.js';
import type { WatchLedger } from './watch-ledger.js';
import type { FileDone, StoredWatch, Verdict } from '../store/watched.js';
import { Lags } from './lags.js';
import { pathsToLookAt, renamedFiles, type RenamedFiles } from './renamed-files.js';
import { isScheduled } from './schedule.js';

/**
 * `listing`: files that were there at the beginning are still being told from new ones. `scheduled`: it waits for its
 * times. `away`: none of its paths is there.
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

/** What the watch sees at the moment. */
export interface WatchSight {
  state: WatchState;
  reason: string | null;
  counts: ScanCounts | null;
  report: ScanReport | null;
  /** Unix seconds. */
  scannedAt: number | null;
  lag: { p50: number; p99: number } | null;
}

/** More would wait in the queue in place of the folder. */
const MOST_OPEN_JOBS = 4;
const FILES_PER_CALL = 1_000;
/** Between two scans, at least. */
const REST_MS = 200;
/** The schedule is looked at so often. */
const IDLE_MS = 1_000;
const STOP_MS = 1_000;
const MISSING_MS = 3_600_000;

export class WatchRun {
  readonly #parts: WatchRunParts;
  readonly #over = new AbortController();
  readonly #lags = new Lags();
  /** When files whose images have no outcome yet arrived, by task, of a clock that nobody sets. */
  readonly #arrivals = new Map<number, number>();
  readonly #openJobs = new Set<string>();
  /** Of an earlier process. */
  #oldOpenJobs = 0;
  #watch: StoredWatch;
  #folders: OpenFolders | null = null;
  #report: ScanReport | null = null;
  #scannedAt: number | null = null;
  #counts: ScanCounts | null = null;
  #fault: string | null = null;
  #refusal: string | null = null;
  #isAway = false;
  #scanEnd = -Infinity;
  #missingAt = -Infinity;
  #hasOutcomes = false;
  #pumping: Promise<void> | null = null;
  #again = false;
  #hurry: () => void = () => undefined;
  #soon: NodeJS.Timeout | undefined;
  #batch: NodeJS.Timeout | undefined;
  /** Resolves when it has scanned once and files that lay there are in the ledger. */
  #ready: Promise<void>;
  #isReady: () => void = () => undefined;
  readonly #working: Promise<void>;

  constructor(watch: StoredWatch, parts: WatchRunParts) {
    this.#watch = watch;
    this.#parts = parts;
    this.#ready = new Promise((resolve) => (this.#isReady = resolve));
    this.#working = this.#work();
  }

  get watch(): StoredWatch {
    return this.#watch;
  }

  get sight(): WatchSight {
    return {
      state: this.#state,
      reason: this.#fault ?? this.#refusal,
      counts: this.#counts,
      report: this.#report,
      scannedAt: this.#scannedAt,
      lag: this.#lags.percentiles,
    };
  }

  /** Resolves when the folders have been seen, or after `ms`. */
  async seen(ms: number): Promise<void> {
    await inTime(this.#ready, ms, undefined);
  }

  /** What it does from now on. */
  change(watch: StoredWatch): void {
    this.#watch = watch;
    this.#ready = new Promise((resolve) => (this.#isReady = resolve));
    this.#closeFolders();
    this.#hurry();
  }

  onEvent({ event, jobId, watch, keyId }: JobEvent): void {
    if (!isEnd(event)) return;
    if (watch !== this.#watch.name || (keyId ?? '') !== this.#watch.owner) return;
    if (!this.#openJobs.delete(jobId)) this.#oldOpenJobs = Math.max(0, this.#oldOpenJobs - 1);
    this.#pump();
  }

  onFileDone({ task, outcome }: FileDone): void {
    const arrived = this.#arrivals.get(task);
    this.#arrivals.delete(task);
    this.#hasOutcomes = true;
    if (arrived !== undefined && outcome !== 'none') {
      const seconds = (performance.now() - arrived) / 1_000;
      this.#lags.add(seconds);
      this.#parts.onLag(this.#watch.name, seconds);
    }
    this.#pump();
  }

  /** Resolves when it writes nothing any more. */
  async stop(): Promise<void> {
    this.#over.abort();
    this.#closeFolders();
    this.#hurry();
    // A volume that hangs is not waited for.
    await inTime(Promise.all([this.#working, this.#pumping]), STOP_MS, []);
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

  get #maySubmit(): boolean {
    return this.#state === 'active' && !this.#over.signal.aborted;
  }

  async #work(): Promise<void> {
    const { ledger } = this.#parts;
    await ledger.watchCounts(this.#watch.number).then(
      ({ openJobs }) => (this.#oldOpenJobs = openJobs),
      () => undefined,
    );
    while (!this.#over.signal.aborted) {
      const start = performance.now();
      const { paused, schedule, intervalMs } = this.#watch;
      const isWanted = this.#isListing || (!paused && isScheduled(schedule, new Date()));
      if (isWanted) await this.#scan();
      else {
        this.#closeFolders();
        this.#isReady();
      }
      const took = performance.now() - start;
      await this.#pause(isWanted ? Math.max(intervalMs - took, took, REST_MS) : IDLE_MS);
    }
  }

  async #pause(ms: number): Promise<void> {
    if (this.#over.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    clearTimeout(this.#soon);
    this.#soon = undefined;
  }

  async #scan(): Promise<void> {
    const folders = this.#open();
    try {
      const report = await folders.call('scan');
      if (folders !== this.#folders) return;
      this.#report = report;
      this.#counts = report.counts;
      this.#scannedAt = Date.now() / 1_000;
      const { faults, remarks } = report;
      this.#say(report.isAway, faultText([...faults, ...remarks]));
      if (this.#isListing) await this.#list(folders, report);
      this.#isReady();
      this.#hasOutcomes = true;
      this.#pump();
      await this.#findMissing(folders, report);
    } catch (thrown) {
      this.#lose(folders, thrown);
    } finally {
      this.#scanEnd = performance.now();
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
      if (what === 'due') this.#pump();
      else this.#scanSoon();
    }));
  }

  #closeFolders(): void {
    this.#folders?.close();
    this.#folders = null;
    this.#counts = null;
    clearTimeout(this.#batch);
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

  /** There is something new; folders that change all the time are not scanned all the time. */
  #scanSoon(): void {
    const rest = Math.max(REST_MS, 2 * (this.#report?.tookMs ?? 0));
    const wait = Math.max(0, this.#scanEnd + rest - performance.now());
    this.#soon ??= setTimeout(() => {
      this.#hurry();
    }, wait);
  }

  /** What lies there when the watch begins is in the ledger before the watch is said to be active. */
  async #list(folders: OpenFolders, { isWhole }: ScanReport): Promise<void> {
    const { ledger } = this.#parts;
    const { number } = this.#watch;
    for (;;) {
      const files = await folders.call('takeExisting', FILES_PER_CALL);
      if (files.length === 0) break;
      await ledger.leaveFiles(number, files, Date.now() / 1_000);
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
    if (!isWhole || performance.now() - this.#missingAt < MISSING_MS) return;
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

  /** One at a time; a call meanwhile makes it go round once more. */
  #pump(): void {
    this.#again = true;
    this.#pumping ??= this.#pumpAll().finally(() => {
      this.#pumping = null;
      if (this.#again && this.#folders !== null) this.#pump();
    });
  }

  async #pumpAll(): Promise<void> {
    while (this.#again && this.#folders !== null) {
      this.#again = false;
      const folders = this.#folders;
      try {
        if (this.#hasOutcomes) {
          this.#hasOutcomes = false;
          this.#counts = await folders.call('askAgain');
        }
        await this.#judgeAll(folders);
        await this.#submitAll(folders);
      } catch (thrown) {
        this.#lose(folders, thrown);
      }
    }
  }

  async #judgeAll(folders: OpenFolders): Promise<void> {
    const { ledger } = this.#parts;
    const { number } = this.#watch;
    while (!this.#over.signal.aborted) {
      const files = await folders.call('take', FILES_PER_CALL);
      if (files.length === 0) return;
      const verdicts = await ledger.fileVerdicts(number, files);
      const renamed = await this.#renamed(folders, files, verdicts);
      const back = files.filter((_, at) => verdicts[at] === 'back');
      const now = Date.now() / 1_000;
      if (back.length > 0) await ledger.filesBack(number, back, now);
      const { moves } = renamed;
      if (moves.length > 0) await ledger.moveFiles(number, moves, now);
      const judged = files.map((file, at) => {
        const verdict = verdicts[at] ?? 'pending';
        return {
          ...file,
          standing: standingOf(verdict) ?? renamed.standings.get(file.path) ?? 'pending',
        };
      });
      this.#counts = await folders.call('judge', judged);
    }
  }

  async #renamed(
    folders: OpenFolders,
    files: readonly SeenFile[],
    verdicts: readonly Verdict[],
  ): Promise<RenamedFiles> {
    const named = files.flatMap((file, at) => {
      const verdict = verdicts[at];
      return typeof verdict === 'object' ? [{ ...file, names: verdict }] : [];
    });
    if (named.length === 0) return { moves: [], standings: new Map() };
    const paths = pathsToLookAt(named);
    const found = await folders.call('current', paths);
    return renamedFiles(named, new Map(paths.map((path, at) => [path, found[at]])));
  }

  async #submitAll(folders: OpenFolders): Promise<void> {
    clearTimeout(this.#batch);
    while (this.#maySubmit) {
      const { maxImages, maxWaitS } = this.#watch.batch;
      const { fresh, oldestFreshMs } = (this.#counts ??= await folders.call('counts'));
      if (fresh === 0 || this.#openJobs.size + this.#oldOpenJobs >= MOST_OPEN_JOBS) return;
      const wait = 1_000 * maxWaitS - oldestFreshMs;
      if (fresh < maxImages && wait > 0) {
        this.#batch = setTimeout(() => {
          this.#counts = null;
          this.#pump();
        }, wait).unref();
        return;
      }
      const files = await folders.call('takeFresh', maxImages);
      const isSubmitted = files.length === 0 || (await this.#submit(folders, files));
      if (!isSubmitted) return;
      this.#counts = await folders.call('counts');
    }
  }

  async #submit(folders: OpenFolders, files: readonly FreshFile[]): Promise<boolean> {
    const now = performance.now();
    const judge = async (standingOfFile: (file: FreshFile) => Standing) => {
      const judged = files.map((file) => ({ ...file, standing: standingOfFile(file) }));
      this.#counts = await folders.call('judge', judged);
    };
    try {
      const { job } = await this.#parts.jobs.submitFiles(this.#watch, files);
      this.#openJobs.add(job.jobId);
      const isWhole = job.imageCount === files.length;
      if (isWhole) {
        files.forEach(({ ageMs }, index) => {
          this.#arrivals.set(taskId(job.number, index), now - ageMs);
        });
      }
      this.#refusal = null;
      await judge(() => (isWhole ? 'known' : 'due'));
      this.#again ||= !isWhole;
      return true;
    } catch (thrown) {
      const error = toLatticeError(thrown);
      if (error.code === 'volume_unavailable') throw error;
      // None was left to submit: the ledger is asked again.
      if (error.code === 'validation_failed') {
        await judge(() => 'due');
        return false;
      }
      this.#refusal = error.message;
      await judge(({ isCopy }) => (isCopy ? 'copy' : 'fresh'));
      return false;
    }
  }
}

function standingOf(verdict: Verdict): Standing | null {
  if (typeof verdict === 'object') return null;
  if (verdict === 'new') return 'fresh';
  return verdict === 'pending' ? 'pending' : 'known';
}

const SCAN_ENDED = 'A scan ended before it was over; the folders are scanned again.';
const FAULTS_SHOWN = 3;

function faultText(faults: readonly string[]): string | null {
  if (faults.length === 0) return null;
  const more = faults.length - FAULTS_SHOWN;
  return faults.slice(0, FAULTS_SHOWN).join(' ') + (more > 0 ? ` And ${more} more.` : '');
}

/** Files that were seen and are in no job yet. */
export function waitingFiles({ counts }: WatchSight): number {
  return counts === null ? 0 : counts.moving + counts.due + counts.fresh + counts.pending;
}
