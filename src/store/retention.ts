/** Deletes expired records in small batches, so that other calls do not wait. */
import {
  MAX_IMAGES,
  type KeptTimes,
  type MadeRoom,
  type StoreShares,
  type StoreSize,
  type StoreUse,
  type Swept,
  type SweepLimits,
} from './job-records.js';
import type { RunningTime } from './running-time.js';
import type { ScopeCounts, SweptJob } from './count-rows.js';
import type { Statements } from './statements.js';
import { allUse } from './key-use-rows.js';
import { takenBackOf } from './retried-jobs.js';
import { atOnce } from './steps.js';

const JOBS_PER_CALL = 50;
/** Share of its mark from which on the oldest jobs of a key are removed. */
const MARK_FROM = 0.8;
const ROWS_PER_CALL = 1000;
/** How long a watch knows a file that is not there: a volume may be away for weeks. */
const MISSING_FILE_HOURS = 90 * 24;
/** 64 MiB. */
const FREE_PAGES_KEPT = 16_384;
/** Events of a job that goes to make room. */
const EVENTS_PER_JOB = 3;
/** Limit of the marks of the clock in the shortest time that a row is kept. */
const MARKS = 1000;
/** A pending webhook keeps its job. */
const REMOVABLE = 'completed_at IS NOT NULL AND keep_days IS NULL AND awaited = 0';

interface EndedJob {
  number: number;
  completedAt: number;
  images: number;
}

export class Retention {
  readonly #statements: Statements;
  readonly #time: RunningTime;
  readonly #scopes: ScopeCounts;

  constructor(statements: Statements, time: RunningTime, scopes: ScopeCounts) {
    this.#statements = statements;
    this.#time = time;
    this.#scopes = scopes;
  }

  /**
   * A row that is kept for some hours is kept while the service runs so long, whatever the clock does: nothing goes
   * unless its time is before all that the clock has shown since. Ends the `keep` of jobs whose days of running time
   * are over. To be called before each sweep.
   */
  sweepLimits({ now, running, resultTtlHours, historyHours }: KeptTimes): SweepLimits {
    const total = this.#mark(now, running, Math.min(resultTtlHours, historyHours));
    this.#statements.run(
      `UPDATE jobs SET keep_days = NULL, kept_at = NULL, kept_until_s = NULL
       WHERE keep_days IS NOT NULL AND kept_until_s <= ?`,
      total,
    );
    const before = (hours: number): number => {
      const { earliest } = this.#statements.get(
        `SELECT min(earliest) AS earliest FROM clock_marks
         WHERE from_s >= (SELECT max(from_s) FROM clock_marks WHERE from_s <= ?)`,
        total - hours * 3600,
      ) as { earliest: number | null };
      return earliest ?? 0;
    };
    this.#statements.run(
      `DELETE FROM clock_marks
       WHERE from_s < (SELECT max(from_s) FROM clock_marks WHERE from_s <= ?)`,
      total - Math.max(resultTtlHours, historyHours, MISSING_FILE_HOURS) * 3600,
    );
    const historyBefore = before(historyHours);
    return {
      jobsBefore: before(resultTtlHours),
      eventsBefore: historyBefore,
      keysBefore: historyBefore,
      filesBefore: before(MISSING_FILE_HOURS),
    };
  }

  /** Notes what the clock shows, finely enough for what is kept for `hours`. Returns the running time of the store. */
  #mark(now: number, running: number, hours: number): number {
    const total = this.#time.advance(running);
    const last = this.#statements.get(
      'SELECT from_s AS fromS FROM clock_marks ORDER BY from_s DESC LIMIT 1',
    ) as { fromS: number } | undefined;
    const isOld = last === undefined || total - last.fromS > (hours * 3600) / MARKS;
    this.#statements.run(
      `INSERT INTO clock_marks (from_s, until_s, earliest) VALUES (?, ?, ?) ON CONFLICT DO UPDATE
       SET until_s = excluded.until_s, earliest = min(earliest, excluded.earliest)`,
      isOld ? total : last.fromS,
      total,
      now,
    );
    return total;
  }

  /** Removes one small batch; `more` tells that work is left. */
  sweep(limits: SweepLimits): Swept {
    const removed = this.#removeJobs(limits.jobsBefore);
    const { copies, left } = this.#removeImages();
    const events = this.#statements.run(
      `DELETE FROM outbox WHERE seq IN
         (SELECT seq FROM outbox WHERE timestamp < ? ORDER BY seq LIMIT ${ROWS_PER_CALL})
       -- From the oldest on, without holes, whatever the clock did.
       AND seq < (SELECT coalesce(min(seq), 9e18) FROM outbox WHERE timestamp >= ?)`,
      limits.eventsBefore,
      limits.eventsBefore,
    );
    const keys = this.#statements.run(
      `DELETE FROM idempotency WHERE key IN
         (SELECT key FROM idempotency WHERE created_at < ? LIMIT ${ROWS_PER_CALL})`,
      limits.keysBefore,
    );
    const files = this.#removeFiles(limits.filesBefore ?? 0);
    this.#statements.run('DELETE FROM charged_markers WHERE charged_at < ?', limits.keysBefore);
    const more =
      removed === JOBS_PER_CALL ||
      left ||
      [events, keys, files].includes(ROWS_PER_CALL) ||
      this.#scopes.trim(ROWS_PER_CALL) > 0;
    if (!more) this.#shrink();
    return { removed, copies, more };
  }

  /**
   * Removes one small batch to make the store no larger than `most`: images of jobs that are gone, then the jobs that
   * ended first, except kept ones, with as many of the oldest events. Jobs of keys that have more than their shares go
   * first; those of other keys only if no key has more, or above `most.file`. `more` tells that work is left; without
   * it and above `most.used`, nothing is left that may go.
   */
  makeRoom(most: StoreSize, shares: StoreShares = null): MadeRoom {
    const none = { removed: 0, oldest: null, newest: null };
    const { copies, left } = this.#removeImages();
    const { used, file } = sizeOf(this.#statements);
    if (left) return { ...none, copies, used, more: true };
    if (used <= most.used) {
      const isLong = file > most.file && file > used;
      if (isLong) this.#giveBack();
      return { ...none, copies, used, more: isLong };
    }
    const use = allUse(this.#statements);
    const beyond = use.filter(({ owner, bytes }) => bytes > (shares?.[owner]?.limit ?? 0));
    let gone = shares === null ? [] : this.#oldestEnded(beyond);
    if (gone.length === 0 && (shares === null || beyond.length === 0 || used > most.file)) {
      gone = this.#oldestEnded(use);
    }
    if (gone.length === 0) {
      this.#forgetLostKeys();
      return { ...none, copies, used, more: used > most.file && this.#forgetEvents(ROWS_PER_CALL) };
    }
    return { ...this.#removeFor(gone), copies, used, more: true };
  }

  /**
   * Like `makeRoom`, but whatever the size of the store: for the keys that have nearly as much as their marks allow.
   */
  keepToMarks(shares: StoreShares): MadeRoom {
    const { copies, left } = this.#removeImages();
    const { used } = sizeOf(this.#statements);
    const near = allUse(this.#statements).filter(({ owner, bytes }) => {
      const share = shares?.[owner];
      return share?.isExplicit === true && bytes > share.limit * MARK_FROM;
    });
    const gone = near.length === 0 ? [] : this.#oldestEnded(near);
    if (gone.length === 0)
      return { removed: 0, oldest: null, newest: null, copies, used, more: left };
    return { ...this.#removeFor(gone), copies, used, more: true };
  }

  #removeFor(gone: readonly EndedJob[]): Pick<MadeRoom, 'removed' | 'oldest' | 'newest'> {
    this.#remove(gone);
    this.#forgetEvents(gone.length * EVENTS_PER_JOB);
    this.#forgetLostKeys();
    const oldest = gone[0]?.completedAt ?? null;
    const newest = gone.at(-1)?.completedAt ?? null;
    return { removed: gone.length, oldest, newest };
  }

  /** Removes the oldest events. Returns false when there was none. */
  #forgetEvents(most: number): boolean {
    const sql = 'DELETE FROM outbox WHERE seq IN (SELECT seq FROM outbox ORDER BY seq LIMIT ?)';
    return this.#statements.run(sql, most) > 0;
  }

  /** The jobs of these owners that ended first: as many as have the images of one call together, and at least one. */
  #oldestEnded(owners: readonly Pick<StoreUse, 'owner'>[]): EndedJob[] {
    const oldest = owners
      .flatMap(({ owner }) => this.#endedJobs(owner, Infinity))
      .sort((a, b) => a.completedAt - b.completedAt)
      .slice(0, JOBS_PER_CALL);
    let images = 0;
    return oldest.filter((job, at) => (images += job.images) <= ROWS_PER_CALL || at === 0);
  }

  /** The jobs of one owner that ended first and may be removed. */
  #endedJobs(owner: string, before: number): EndedJob[] {
    return this.#statements.all(
      `SELECT number, completed_at AS completedAt, image_count AS images FROM jobs
       WHERE key_id IS ? AND completed_at < ? AND ${REMOVABLE}
       ORDER BY completed_at LIMIT ${JOBS_PER_CALL}`,
      owner === '' ? null : owner,
      before,
    ) as EndedJob[];
  }

  /** Idempotency keys of jobs that are gone: such a key is free again. The oldest, a few at a time. */
  #forgetLostKeys(): void {
    this.#statements.run(
      `DELETE FROM idempotency WHERE key IN
         (SELECT key FROM (SELECT key, job_id FROM idempotency ORDER BY created_at LIMIT ${ROWS_PER_CALL}) AS oldest
          WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.job_id = oldest.job_id))`,
    );
  }

  /** SQLite uses free pages again; only a large surplus is given back to the disk, in small steps. */
  #shrink(): void {
    const { freelist_count: free } = this.#statements.get('PRAGMA freelist_count') as {
      freelist_count: number;
    };
    if (free > FREE_PAGES_KEPT) this.#giveBack();
  }

  #giveBack(): void {
    this.#statements.all(`PRAGMA incremental_vacuum(${ROWS_PER_CALL})`);
  }

  /** Removes jobs at once and their images later: no reader sees half a job. */
  #removeJobs(before: number): number {
    const old = allUse(this.#statements).flatMap(({ owner }) => this.#endedJobs(owner, before));
    const gone = old.slice(0, JOBS_PER_CALL);
    this.#remove(gone);
    return gone.length;
  }

  #remove(jobs: readonly EndedJob[]): void {
    for (const { number } of jobs) {
      const { images, sums = [] } = atOnce(takenBackOf(this.#statements, number)) ?? {};
      if (images === 'all') this.#scopes.jobRemoved(number, false);
      else this.#scopes.jobRemoved(number, true, sums);
      this.#statements.run('DELETE FROM jobs WHERE number = ?', number);
    }
  }

  /** Removes files of watches that are gone, and those that have been missing for long. */
  #removeFiles(before: number): number {
    const all = 'SELECT watch, path, version FROM watched_files';
    const remove = (which: string, value: number) =>
      this.#statements.run(
        `DELETE FROM watched_files WHERE (watch, path, version) IN (${all} WHERE ${which} LIMIT ${ROWS_PER_CALL})`,
        value,
      );
    const dropped = this.#statements.get('SELECT number FROM dropped_watches LIMIT 1') as
      { number: number } | undefined;
    if (dropped === undefined) return remove('missing_since < ?', before);
    const removed = remove('watch = ?', dropped.number);
    if (removed === ROWS_PER_CALL) return removed;
    this.#statements.run('DELETE FROM dropped_watches WHERE number = ?', dropped.number);
    return ROWS_PER_CALL;
  }

  /**
   * Images of removed jobs, after their counts. `left`: there are more. `copies`: files of drawn copies that no image
   * is left of.
   */
  #removeImages(): { copies: string[]; left: boolean } {
    const copies: string[] = [];
    let left = ROWS_PER_CALL;
    const swept = this.#statements.all(
      `SELECT number, owner, watch, tags, kept FROM swept_jobs ORDER BY number LIMIT ${JOBS_PER_CALL + 1}`,
    ) as SweptJob[];
    for (const job of swept) {
      const { number } = job;
      left -= this.#scopes.take(job, left);
      if (left === 0) return { copies, left: true };
      const from = number * MAX_IMAGES;
      const { end } = this.#statements.get(
        `SELECT coalesce(max(task) + 1, ?1) AS end FROM
           (SELECT task FROM job_images WHERE task >= ?1 AND task < ?2 ORDER BY task LIMIT ?3)`,
        from,
        (number + 1) * MAX_IMAGES,
        left,
      ) as { end: number };
      copies.push(...this.#takeCopies(from, end));
      left -= this.#statements.run(
        'DELETE FROM job_images WHERE task >= ? AND task < ?',
        from,
        end,
      );
      if (left === 0) return { copies, left: true };
      this.#statements.run('DELETE FROM swept_jobs WHERE number = ?', number);
    }
    return { copies, left: swept.length > JOBS_PER_CALL };
  }

  /** Removes the copies of these images from the table. Returns the names of those that no other image has. */
  #takeCopies(from: number, end: number): string[] {
    const names = this.#statements.all(
      'DELETE FROM drawn_copies WHERE task >= ? AND task < ? RETURNING name',
      from,
      end,
    ) as { name: string }[];
    return names
      .map(({ name }) => name)
      .filter(
        (name) =>
          this.#statements.get('SELECT 1 FROM drawn_copies WHERE name = ?', name) === undefined,
      );
  }
}

/** Pages that SQLite uses again are part of the file. */
export function sizeOf(statements: Statements): StoreSize {
  const number = (pragma: string) =>
    Number(Object.values(statements.get(`PRAGMA ${pragma}`) as Record<string, number>)[0]);
  const pageSize = number('page_size');
  const pages = number('page_count');
  return { used: (pages - number('freelist_count')) * pageSize, file: pages * pageSize };
}
