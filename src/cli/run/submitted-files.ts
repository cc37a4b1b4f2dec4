/** The files that an earlier process has submitted for the run that goes on. */
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { JobService } from '../../jobs/job-service.js';
import type { Job } from '../../store/job.js';

/** Share of the places of the table that are taken, at most. */
const FULLEST = 0.7;

/** A million files take 25 MB: 64 bits of the digest of each path, and the number of its job. */
export class SubmittedFiles {
  readonly #high: Uint32Array;
  readonly #low: Uint32Array;
  /** From 1 on; 0: the place is free. */
  readonly #job: Uint32Array;
  readonly #submittedAt: readonly number[];
  #left = 0;
  /** A file was changed after its job was submitted. */
  #isChanged = false;

  private constructor(jobs: readonly Job[]) {
    const files = jobs.reduce((sum, { imageCount }) => sum + imageCount, 0);
    const places = 2 ** Math.ceil(Math.log2(Math.max(2, files / FULLEST)));
    this.#high = new Uint32Array(places);
    this.#low = new Uint32Array(places);
    this.#job = new Uint32Array(places);
    this.#submittedAt = jobs.map(({ submittedAt }) => submittedAt);
  }

  static async of(jobs: Pick<JobService, 'statePages'>, continued: readonly Job[]) {
    const files = new SubmittedFiles(continued);
    for (const [index, { jobId }] of continued.entries()) {
      for await (const page of jobs.statePages(jobId)) {
        for (const { path } of page) files.#add(path, index + 1);
      }
    }
    return files;
  }

  /** The files that are in no job yet. */
  async *without(files: AsyncIterable<string>): AsyncGenerator<string, void> {
    for await (const file of files) {
      const job = this.#job[this.#placeOf(file).at] ?? 0;
      if (job === 0) yield file;
      else {
        this.#left -= 1;
        this.#isChanged ||= await isChangedSince(file, this.#submittedAt[job - 1] ?? 0);
      }
    }
  }

  /** Files of the jobs are not as they were, or are not named any more. */
  get isStale(): boolean {
    return this.#isChanged || this.#left > 0;
  }

  #add(path: string, job: number): void {
    const { at, high, low } = this.#placeOf(path);
    if (this.#job[at] === 0) this.#left += 1;
    this.#high[at] = high;
    this.#low[at] = low;
    this.#job[at] = job;
  }

  /** The place of the path, or the free one for it. */
  #placeOf(path: string): { at: number; high: number; low: number } {
    const digest = createHash('sha1').update(path).digest();
    const high = digest.readUInt32LE(0);
    const low = digest.readUInt32LE(4);
    const last = this.#job.length - 1;
    let at = low & last;
    while (this.#job[at] !== 0 && (this.#high[at] !== high || this.#low[at] !== low)) {
      at = (at + 1) & last;
    }
    return { at, high, low };
  }
}

async function isChangedSince(file: string, unixSeconds: number): Promise<boolean> {
  const stats = await stat(file).catch(() => null);
  return stats !== null && Math.max(stats.mtimeMs, stats.ctimeMs) > unixSeconds * 1_000;
}
