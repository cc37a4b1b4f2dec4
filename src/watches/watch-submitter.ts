/**
 * Makes jobs of the files of one watch: asks the ledger about stable files, and submits those that are new, in
 * batches. The ledger alone decides; what is in memory here may be lost at any time.
 */
import { BackOff } from '../base/back-off.js';
import { toLatticeError } from '../api/errors.js';
import type { OpenFolders } from '../files/folder-scanner.js';
import type { FileCounts, NewFile, SeenFile, Standing } from '../files/listing/seen-files.js';
import type { JobService } from '../jobs/job-service.js';
import { taskId } from '../store/job-records.js';
import type { WatchLedger } from './watch-ledger.js';
import type { FileDone, StoredWatch, Verdict } from '../store/watched.js';
import { Lags } from './lags.js';
import { pathsToLookAt, renamedFiles, type RenamedFiles } from './renamed-files.js';

/** More open jobs would only move the waiting from the folder into the queue. */
const MOST_OPEN_JOBS = 4;
export const FILES_PER_CALL = 1_000;

export interface WatchSubmitterParts {
  ledger: WatchLedger;
  jobs: Pick<JobService, 'submitFiles'>;
  /** The watch of the moment. */
  watch: () => StoredWatch;
  /** Null while they are closed. */
  folders: () => OpenFolders | null;
  /** Within its times, with its folders listed. */
  maySubmit: () => boolean;
  isOver: () => boolean;
  /** A call of the folders or of the ledger has failed. */
  onFailure: (folders: OpenFolders, thrown: unknown) => void;
  /** Seconds from the arrival of a file to its result. */
  onLag: (watch: string, seconds: number) => void;
}

/** Waits between two submissions of files whose images were not read. */
const NOT_READ_LEAST_MS = 60_000;
const NOT_READ_MOST_MS = 3_600_000;

export class WatchSubmitter {
  readonly #parts: WatchSubmitterParts;
  readonly #lags = new Lags();
  /** When files whose images have no outcome yet arrived, by task, of a clock that nobody sets. */
  readonly #arrivals = new Map<number, number>();
  readonly #openJobs = new Set<string>();
  /** Number of open jobs of an earlier process. */
  #oldOpenJobs = 0;
  #counts: FileCounts | null = null;
  #refusal: string | null = null;
  #hasOutcomes = false;
  #isScanned = false;
  /** Paths of files whose images were not read, and when they may be submitted again, of a clock that nobody sets. */
  readonly #notRead: string[] = [];
  #notReadFrom = -Infinity;
  readonly #notReadWaits = new BackOff(NOT_READ_LEAST_MS, NOT_READ_MOST_MS);
  #working: Promise<void> | null = null;
  #again = false;
  #batch: NodeJS.Timeout | undefined;

  constructor(parts: WatchSubmitterParts) {
    this.#parts = parts;
  }

  get counts(): FileCounts | null {
    return this.#counts;
  }

  /** Why the last job was refused; null where it was not. */
  get refusal(): string | null {
    return this.#refusal;
  }

  get lag(): { p50: number; p99: number } | null {
    return this.#lags.percentiles;
  }

  /** Resolves when nothing is being submitted. */
  get idle(): Promise<void> {
    return this.#working ?? Promise.resolve();
  }

  /** Counts the jobs that an earlier process has left open. */
  async start(): Promise<void> {
    const counted = this.#parts.ledger.watchCounts(this.#parts.watch().number);
    this.#oldOpenJobs = (await counted.catch(() => ({ openJobs: 0 }))).openJobs;
  }

  onScan(counts: FileCounts): void {
    this.#counts = counts;
  }

  onClosed(): void {
    this.#counts = null;
    clearTimeout(this.#batch);
  }

  onJobEnd(jobId: string): void {
    if (!this.#openJobs.delete(jobId)) this.#oldOpenJobs = Math.max(0, this.#oldOpenJobs - 1);
    this.submitSoon();
  }

  onFileDone({ path, task, result }: FileDone): void {
    const arrived = this.#arrivals.get(task);
    this.#arrivals.delete(task);
    if (arrived !== undefined && result !== 'none') {
      const seconds = (performance.now() - arrived) / 1_000;
      this.#lags.add(seconds);
      this.#parts.onLag(this.#parts.watch().name, seconds);
    }
    if (result === 'none') this.#notRead.push(path);
    this.#hasOutcomes = true;
    this.submitSoon();
  }

  /**
   * The files whose images were not read: at once, and then after growing waits, because a worker may not find for a
   * long time what a scan finds.
   */
  #takeNotRead(): string[] {
    const now = performance.now();
    if (now < this.#notReadFrom) return [];
    if (this.#notRead.length === 0) this.#notReadWaits.reset();
    else this.#notReadFrom = now + this.#notReadWaits.next();
    return this.#notRead.splice(0);
  }

  /** A scan is over: the ledger is asked again about deferred files, and about those whose images were not read. */
  askAgain(): void {
    this.#isScanned = true;
    this.submitSoon();
  }

  /** One at a time; a call meanwhile makes it go round once more. */
  submitSoon(): void {
    this.#again = true;
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
      if (this.#again && this.#parts.folders() !== null) this.submitSoon();
    });
  }

  async #work(): Promise<void> {
    for (;;) {
      const folders = this.#parts.folders();
      if (!this.#again || folders === null) return;
      this.#again = false;
      try {
        if (this.#hasOutcomes || this.#isScanned) {
          const notRead = this.#isScanned ? this.#takeNotRead() : [];
          this.#hasOutcomes = this.#isScanned = false;
          this.#counts = await folders.call('askAgain', notRead);
        }
        await this.#askLedger(folders);
        await this.#submitAll(folders);
      } catch (thrown) {
        this.#parts.onFailure(folders, thrown);
      }
    }
  }

  async #askLedger(folders: OpenFolders): Promise<void> {
    const { ledger } = this.#parts;
    const { number } = this.#parts.watch();
    while (!this.#parts.isOver()) {
      const files = await folders.call('takeStable', FILES_PER_CALL);
      if (files.length === 0) return;
      const verdicts = await ledger.fileVerdicts(number, files);
      const { moves, standings } = await this.#renamed(folders, files, verdicts);
      const back = files.filter((_, index) => verdicts[index] === 'back');
      const now = Date.now() / 1_000;
      if (back.length > 0) await ledger.filesBack(number, back, now);
      if (moves.length > 0) await ledger.moveFiles(number, moves, now);
      const answers = files.map((file, index) => {
        const standing = standingOf(verdicts[index] ?? 'deferred') ?? standings.get(file.path);
        return { ...file, standing: standing ?? 'deferred' };
      });
      this.#counts = await folders.call('answer', answers);
    }
  }

  async #renamed(
    folders: OpenFolders,
    files: readonly SeenFile[],
    verdicts: readonly Verdict[],
  ): Promise<RenamedFiles> {
    const named = files.flatMap((file, index) => {
      const verdict = verdicts[index];
      return typeof verdict === 'object' ? [{ ...file, names: verdict }] : [];
    });
    if (named.length === 0) return { moves: [], standings: new Map() };
    const paths = pathsToLookAt(named);
    const found = await folders.call('current', paths);
    return renamedFiles(named, new Map(paths.map((path, index) => [path, found[index]])));
  }

  async #submitAll(folders: OpenFolders): Promise<void> {
    clearTimeout(this.#batch);
    while (this.#parts.maySubmit()) {
      const { maxImages, maxWaitS } = this.#parts.watch().batch;
      const counts = (this.#counts ??= await folders.call('counts'));
      if (counts.new === 0 || this.#openJobs.size + this.#oldOpenJobs >= MOST_OPEN_JOBS) return;
      const wait = 1_000 * maxWaitS - counts.oldestNewMs;
      if (counts.new < maxImages && wait > 0) {
        this.#batch = setTimeout(() => {
          this.#counts = null;
          this.submitSoon();
        }, wait).unref();
        return;
      }
      const files = await folders.call('takeNew', maxImages);
      const isSubmitted = files.length === 0 || (await this.#submit(folders, files));
      if (!isSubmitted) return;
      this.#counts = await folders.call('counts');
    }
  }

  /** False: the job was refused, or none of the files was left for one. */
  async #submit(folders: OpenFolders, files: readonly NewFile[]): Promise<boolean> {
    const now = performance.now();
    const answer = async (standingOfFile: (file: NewFile) => Standing) => {
      const answers = files.map((file) => ({ ...file, standing: standingOfFile(file) }));
      this.#counts = await folders.call('answer', answers);
    };
    try {
      const { job } = await this.#parts.jobs.submitFiles(this.#parts.watch(), files);
      this.#openJobs.add(job.jobId);
      const isWhole = job.imageCount === files.length;
      if (isWhole) {
        files.forEach(({ ageMs }, index) => {
          this.#arrivals.set(taskId(job.number, index), now - ageMs);
        });
      }
      this.#refusal = null;
      // Some were left out, and the answer does not name them: the ledger is asked again about all.
      await answer(() => (isWhole ? 'handled' : 'stable'));
      this.#again ||= !isWhole;
      return true;
    } catch (thrown) {
      const error = toLatticeError(thrown);
      if (error.code === 'volume_unavailable') throw error;
      // None was left to submit: the ledger is asked again.
      if (error.code === 'validation_failed') {
        await answer(() => 'stable');
        return false;
      }
      this.#refusal = error.message;
      await answer(({ isCopy }) => (isCopy ? 'copy' : 'new'));
      return false;
    }
  }
}

/** Null means that the other names of this version decide (renamedFiles). */
function standingOf(verdict: Verdict): Standing | null {
  if (typeof verdict === 'object') return null;
  return verdict === 'back' ? 'handled' : verdict;
}
