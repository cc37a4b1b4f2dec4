/** Labels that people set on jobs, and the narrow row by which a job is found and ordered in lists. */
import type { JobLabels, Keep } from '../api/job-labels.js';
import { searchText, titleKey } from './job-title.js';
import type { StoreAllowance, StoredJob } from './job-records.js';
import { findOwn } from './job-rows.js';
import { ownerOf } from './owner.js';
import type { RunningTime } from './running-time.js';
import type { Statements } from './statements.js';
import { scopeOf, type ScopeCounts } from './count-rows.js';
import { markedTags } from './marked-tags.js';
import { refuseBytes } from './key-use-rows.js';

const DAY_S = 86_400;
/** The value of `job_listings.ended` for an unfinished job: later than any end. */
const NOT_ENDED = 9e15;

export class LabelWrites {
  readonly #statements: Statements;
  readonly #time: RunningTime;
  readonly #scopes: ScopeCounts;

  constructor(statements: Statements, time: RunningTime, scopes: ScopeCounts) {
    this.#statements = statements;
    this.#time = time;
    this.#scopes = scopes;
  }

  /**
   * Changes the given labels, at any time of the job's life; `keep` counts from `at` on, in Unix seconds. Throws
   * `quota_exceeded` for a `keep` where the key has all that it may take of the store; null: it may take all.
   */
  relabel(
    jobId: string,
    keyId: string | null,
    changes: Partial<JobLabels>,
    at: number,
    store: StoreAllowance | null = null,
  ): StoredJob {
    const job = findOwn(this.#statements, jobId, keyId);
    if (store !== null && (changes.keep ?? false) !== false) {
      refuseBytes(this.#statements, ownerOf(keyId), store);
    }
    const labels = { ...job.spec.labels, ...changes };
    const scope = scopeOf(this.#statements, job.number);
    this.#statements.run(
      'UPDATE jobs SET name = ?, tags = ?, notes = ? WHERE number = ?',
      labels.name,
      JSON.stringify(labels.tags),
      labels.notes,
      job.number,
    );
    if (changes.keep !== undefined)
      keepJob(this.#statements, this.#time, job.number, labels.keep, at);
    const changed = findOwn(this.#statements, jobId, keyId);
    saveListing(this.#statements, changed);
    this.#scopes.relabelled(job.number, scope);
    return changed;
  }
}

/** Days count in running time, as the retention time does: a clock that is set ends nothing early. */
export function keepJob(
  statements: Statements,
  time: RunningTime,
  jobNumber: number,
  keep: Keep,
  at: number,
): void {
  const isForDays = typeof keep === 'number';
  statements.run(
    'UPDATE jobs SET keep_days = ?, kept_at = ?, kept_until_s = ? WHERE number = ?',
    isForDays ? keep : keep ? 0 : null,
    isForDays ? at : null,
    isForDays ? time.seconds + keep * DAY_S : null,
    jobNumber,
  );
}

/** Keeps the order of the jobs by end right. */
export function listEnd(statements: Statements, jobNumber: number, at: number): void {
  statements.run('UPDATE job_listings SET ended = ? WHERE job = ?', at, jobNumber);
}

export function saveListing(statements: Statements, job: StoredJob): void {
  const { labels, options } = job.spec;
  statements.run(
    `INSERT OR REPLACE INTO job_listings (job, title, model, marked_tags, text, ended)
     VALUES (?, ?, ?, ?, ?, ?)`,
    job.number,
    titleKey(job),
    options.modelName,
    markedTags(labels.tags),
    searchText(job),
    job.completedAt ?? NOT_ENDED,
  );
}
