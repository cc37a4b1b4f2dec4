/** The files that an earlier process has submitted for the run that goes on. */
import { stat } from 'node:fs/promises';
import { PathNumbers } from './path-numbers.js';
import type { RunJob, RunService } from './run-service.js';

export class SubmittedFiles {
  /** From 1 on, in the order of the jobs. */
  readonly #jobs = new PathNumbers();
  readonly #submittedAt: readonly number[];
  #left = 0;
  /** A file was changed after its job was submitted. */
  #isChanged = false;

  private constructor(jobs: readonly RunJob[]) {
    this.#submittedAt = jobs.map(({ submittedAt }) => submittedAt);
  }

  static async of(service: Pick<RunService, 'paths'>, continued: readonly RunJob[]) {
    const files = new SubmittedFiles(continued);
    for (const [index, { jobId }] of continued.entries()) {
      for await (const page of service.paths(jobId)) {
        for (const path of page) files.#jobs.set(path, index + 1);
      }
    }
    files.#left = files.#jobs.size;
    return files;
  }

  /** The files that are in no job yet. */
  async *without(files: AsyncIterable<string>): AsyncGenerator<string, void> {
    for await (const file of files) {
      const job = this.#jobs.of(file);
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
}

async function isChangedSince(file: string, unixSeconds: number): Promise<boolean> {
  const stats = await stat(file).catch(() => null);
  return stats !== null && Math.max(stats.mtimeMs, stats.ctimeMs) > unixSeconds * 1_000;
}
