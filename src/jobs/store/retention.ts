/** Deletes expired records in small batches, so that other calls do not wait. */
import { MAX_IMAGES, type KeptTimes, type SweepLimits } from '../job-records.js';
import type { Statements } from './statements.js';

const JOBS_PER_CALL = 50;
const ROWS_PER_CALL = 1000;
/** How long a watch knows a file that is not there: a volume may be away for weeks. */
const MISSING_FILE_HOURS = 90 * 24;
/** 64 MiB. */
const FREE_PAGES_KEPT = 16_384;
/** Of the clock, at most, in the shortest time that something is kept. */
const MARKS = 1000;

export class Retention {
  readonly #statements: Statements;
  /** Running time of the store before this process's `running` was 0. */
  #ranBefore: number | null = null;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /**
   * What is kept for some hours is kept while the service runs so long, whatever the clock does: nothing goes unless its
   * time is before all that the clock has shown since. To be called before each sweep.
   */
  sweepLimits({ now, running, resultTtlHours, historyHours }: KeptTimes): SweepLimits {
    const total = this.#mark(now, running, Math.min(resultTtlHours, historyHours));
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
    const last = this.#statements.get(
      'SELECT from_s AS fromS, until_s AS untilS FROM clock_marks ORDER BY from_s DESC LIMIT 1',
    ) as { fromS: number; untilS: number } | undefined;
    this.#ranBefore ??= (last?.untilS ?? 0) - running;
    const total = this.#ranBefore + running;
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

  /** One small batch; `more` says that there is work left. */
  sweep(limits: SweepLimits): { removed: number; more: boolean } {
    const removed = this.#removeJobs(limits.jobsBefore);
    const images = this.#removeImages();
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
      removed === JOBS_PER_CALL || images || [events, keys, files].includes(ROWS_PER_CALL);
    if (!more) this.#shrink();
    return { removed, more };
  }

  /** SQLite uses free pages again; only a large surplus is given back to the disk, in small steps. */
  #shrink(): void {
    const { freelist_count: free } = this.#statements.get('PRAGMA freelist_count') as {
      freelist_count: number;
    };
    if (free > FREE_PAGES_KEPT) this.#statements.all(`PRAGMA incremental_vacuum(${ROWS_PER_CALL})`);
  }

  /** Removes jobs at once and their images later: no reader sees half a job. A pending webhook keeps its job. */
  #removeJobs(before: number): number {
    this.#statements.run(
      `INSERT INTO swept_jobs SELECT number FROM jobs WHERE completed_at < ? AND NOT EXISTS
         (SELECT 1 FROM webhook_deliveries WHERE job = number AND state = 'pending')
       ORDER BY completed_at LIMIT ${JOBS_PER_CALL}`,
      before,
    );
    return this.#statements.run('DELETE FROM jobs WHERE number IN (SELECT number FROM swept_jobs)');
  }

  /** Of watches that are gone, and those that have been missing for long. */
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

  /** True when rows are left. */
  #removeImages(): boolean {
    let left = ROWS_PER_CALL;
    const swept = this.#statements.all(
      `SELECT number FROM swept_jobs ORDER BY number LIMIT ${JOBS_PER_CALL + 1}`,
    ) as { number: number }[];
    for (const { number } of swept) {
      const removed = this.#statements.run(
        `DELETE FROM job_images WHERE task IN
           (SELECT task FROM job_images WHERE task >= ? AND task < ? LIMIT ?)`,
        number * MAX_IMAGES,
        (number + 1) * MAX_IMAGES,
        left,
      );
      left -= removed;
      if (left === 0) return true;
      this.#statements.run('DELETE FROM swept_jobs WHERE number = ?', number);
    }
    return swept.length > JOBS_PER_CALL;
  }
}
