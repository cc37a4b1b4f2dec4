/** Rows of `watches`, and the calls about their files. */
import { LatticeError } from '../api/errors.js';
import { refuseExcess, type Allowance } from './allowances.js';
import {
  MOST_WATCHES,
  watchNotFound,
  type FileMove,
  type StoredWatch,
  type Verdict,
  type WatchContent,
  type WatchCounts,
  type WatchedFile,
} from './watched.js';
import type { Statements } from './statements.js';
import { toWatch, WATCH_COLUMNS, type WatchedFiles, type WatchRow } from './watched-files.js';

export class WatchReads {
  readonly #statements: Statements;
  readonly #files: WatchedFiles;

  constructor(statements: Statements, files: WatchedFiles) {
    this.#statements = statements;
    this.#files = files;
  }

  /** Watches of all owners. */
  watches(): StoredWatch[] {
    const sql = `SELECT ${WATCH_COLUMNS} FROM watches ORDER BY owner, name`;
    return (this.#statements.all(sql) as WatchRow[]).map(toWatch);
  }

  /** In the order of the files. */
  fileVerdicts(watch: number, files: readonly WatchedFile[]): Verdict[] {
    return files.map((file) => this.#files.verdict(watch, file));
  }

  /** Paths in the ledger that are not known to be missing, behind `after`. */
  watchedPaths(watch: number, after: string, limit: number): string[] {
    const rows = this.#statements.all(
      `SELECT DISTINCT path FROM watched_files
       WHERE watch = ? AND path > ? AND missing_since IS NULL ORDER BY path LIMIT ?`,
      watch,
      after,
      limit,
    ) as { path: string }[];
    return rows.map(({ path }) => path);
  }

  watchCounts(watch: number): WatchCounts {
    const { owner, name } = this.#files.watch(watch);
    return this.#statements.get(
      `SELECT submitted, succeeded, failed,
         (SELECT count(*) FROM watched_files WHERE watch = number AND missing_since IS NULL) AS recorded,
         (SELECT count(*) FROM watched_files WHERE watch = number AND task IS NOT NULL) AS inJob,
         (SELECT count(*) FROM jobs WHERE watch = ? AND coalesce(key_id, '') = ?
            AND status IN ('pending', 'running')) AS openJobs
       FROM watches WHERE number = ?`,
      name,
      owner,
      watch,
    ) as WatchCounts;
  }
}

export class WatchWrites {
  readonly #statements: Statements;
  readonly #files: WatchedFiles;

  constructor(statements: Statements, files: WatchedFiles) {
    this.#statements = statements;
    this.#files = files;
  }

  /** Throws `watch_exists`, and `quota_exceeded` where the key has all that it may have; null: it may have all. */
  addWatch(
    owner: string,
    name: string,
    content: WatchContent,
    listed: readonly string[],
    at: number,
    allowance: Allowance | null = null,
  ): StoredWatch {
    const { same, own, all } = this.#statements.get(
      `SELECT count(*) FILTER (WHERE owner = ?1 AND name = ?2) AS same, count(*) FILTER (WHERE owner = ?1) AS own,
         count(*) AS "all" FROM watches`,
      owner,
      name,
    ) as { same: number; own: number; all: number };
    if (same > 0) throw new LatticeError('watch_exists', `There is a watch '${name}' already.`);
    if (all >= MOST_WATCHES) {
      const detail = `There are ${MOST_WATCHES} watches, which is the most: delete one first.`;
      throw new LatticeError('validation_failed', detail, { errors: [{ detail }] });
    }
    refuseExcess(allowance, own, 1, () => MOST_WATCHES - all);
    const number = this.#statements.insert(
      'INSERT INTO watches (owner, name, created_at, content, listed) VALUES (?, ?, ?, ?, ?)',
      owner,
      name,
      at,
      JSON.stringify(content),
      JSON.stringify(listed),
    );
    return this.#files.watch(number);
  }

  /** Throws `watch_not_found`. */
  changeWatch(number: number, content: WatchContent, listed: readonly string[]): StoredWatch {
    this.#statements.run(
      'UPDATE watches SET content = ?, listed = ? WHERE number = ?',
      JSON.stringify(content),
      JSON.stringify(listed),
      number,
    );
    return this.#files.watch(number);
  }

  /** Notes that the files of these paths that were there at the beginning are in the ledger. */
  watchListed(number: number, paths: readonly string[]): void {
    const sql = 'UPDATE watches SET listed = ? WHERE number = ?';
    this.#statements.run(sql, JSON.stringify(paths), number);
  }

  /** Deletes the watch; its jobs stay. Throws `watch_not_found`. */
  deleteWatch(number: number): void {
    if (this.#statements.run('DELETE FROM watches WHERE number = ?', number) === 0)
      throw watchNotFound(String(number));
    this.#statements.run('INSERT INTO dropped_watches (number) VALUES (?)', number);
  }

  recordHandledFiles(watch: number, files: readonly WatchedFile[], at: number): void {
    this.#files.recordHandled(watch, files, at);
  }

  moveFiles(watch: number, moves: readonly FileMove[], at: number): void {
    this.#files.move(watch, moves, at);
  }

  filesBack(watch: number, files: readonly WatchedFile[], at: number): void {
    this.#files.back(watch, files, at);
  }

  filesMissing(watch: number, paths: readonly string[], at: number): void {
    this.#files.missing(watch, paths, at);
  }
}
