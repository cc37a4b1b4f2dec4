/**
 * Rows of `watched_files`, the ledger of the watches. A version of a file is in it from the write that submits it on,
 * so it is submitted once. A file that changes before its turn is read as it is then: the write of the outcome puts
 * that version in place of the submitted one, so it is not submitted again, and the submitted one was never read.
 *
 * no row         new to the watch; next: in a job when it is submitted, finished where it was there before the watch
 * in a job       `task` is its image; next: finished when the image was read, or when its job ended before it was (a
 *                cancel: it counts as failed and is not submitted again); no row when it was not read (the file is
 *                submitted again), or when the version that was read is in the ledger by another name (the image fails
 *                with `input_changed`)
 * finished       no `task`; next: missing when it is gone from the folder or replaced
 * missing        `missing_since`; next: finished when it is seen again, no row after 90 days
 *
 * A file that is renamed keeps its version: its row gets the new path. The sweeps remove the rows of a deleted watch.
 */
import { LatticeError, type ErrorCode } from '../api/errors.js';
import type { ImageOutcome } from './job.js';
import { taskId, type NewOutcome } from './job-records.js';
import {
  watchNotFound,
  type FileDone,
  type FileMove,
  type FileVersion,
  type StoredWatch,
  type Verdict,
  type WatchContent,
  type WatchedFile,
} from './watched.js';
import type { CommitNotes } from './group-commit.js';
import type { Statements } from './statements.js';

/** No version was read: the file is submitted again when it rests at its path. */
const NOT_READ: readonly ErrorCode[] = ['image_not_found', 'volume_unavailable', 'input_changed'];

const HAS_RESULT = JSON.stringify({
  status: 'error',
  error: new LatticeError(
    'input_changed',
    'Before its turn the file was replaced by one that the watch had submitted by another name.',
  ).toProblem(),
} satisfies ImageOutcome);

const OF_PATH = 'watch = ? AND path = ?';
const ROW = `${OF_PATH} AND version = ?`;

interface FileRow {
  path: string;
  version: FileVersion;
  task: number | null;
  missingSince: number | null;
}
const COLUMNS = 'path, version, task, missing_since AS missingSince';

export class WatchedFiles {
  readonly #statements: Statements;
  readonly #notes: CommitNotes;

  constructor(statements: Statements, notes: CommitNotes) {
    this.#statements = statements;
    this.#notes = notes;
  }

  /** Throws `watch_not_found`. */
  watch(number: number): StoredWatch {
    const sql = `SELECT ${WATCH_COLUMNS} FROM watches WHERE number = ?`;
    const row = this.#statements.get(sql, number) as WatchRow | undefined;
    if (row === undefined) throw watchNotFound(String(number));
    return toWatch(row);
  }

  verdict(watch: number, { path, version }: WatchedFile): Verdict {
    const sql = `SELECT ${COLUMNS} FROM watched_files WHERE ${OF_PATH}`;
    const here = this.#statements.all(sql, watch, path) as FileRow[];
    // While an earlier version of the path is in a job, the file waits for that outcome.
    if (here.some(({ task }) => task !== null)) return 'deferred';
    const recorded = here.find((row) => row.version === version);
    const isLatest = here.every((row) => (row === recorded) === (row.missingSince === null));
    // Recorded and not the latest: the path had another version in between, and this one has come back.
    if (recorded !== undefined) return isLatest ? 'handled' : 'back';
    if (inodeOf(version) === NO_INODE) return 'new';
    if (this.#isInJob(watch, inodeOf(version))) return 'deferred';
    const names = this.#statements.all(
      'SELECT path FROM watched_files WHERE watch = ? AND version = ?',
      watch,
      version,
    ) as { path: string }[];
    return names.length === 0 ? 'new' : names.map((row) => row.path);
  }

  /** Those that are to be submitted. A second name of a new file waits for the outcome of the first: it is a copy. */
  submittable(watch: number, files: readonly WatchedFile[]): WatchedFile[] {
    const inodes = new Set<string>();
    return files.filter((file) => {
      const verdict = this.verdict(watch, file);
      if (typeof verdict === 'object') return file.isCopy === true;
      const inode = inodeOf(file.version);
      if (verdict !== 'new' || inodes.has(inode)) return false;
      if (inode !== NO_INODE) inodes.add(inode);
      return true;
    });
  }

  /** For files that are submittable. */
  submitted(watch: number, jobNumber: number, files: readonly WatchedFile[]): void {
    files.forEach(({ path, version, isCopy }, index) => {
      this.#add(watch, path, version, taskId(jobNumber, index), isCopy);
    });
    const sql = 'UPDATE watches SET submitted = submitted + ? WHERE number = ?';
    this.#statements.run(sql, files.length, watch);
  }

  /** Files that are not to be submitted in this version, as they were there first or have a result. */
  recordHandled(watch: number, files: readonly WatchedFile[], at: number): void {
    for (const { path, version } of files) {
      this.#add(watch, path, version, null);
      this.#supersede(watch, path, version, at);
    }
  }

  /** All at once: two files may have changed their names with each other. */
  move(watch: number, moves: readonly FileMove[], at: number): void {
    const isThere = `SELECT 1 FROM watched_files WHERE ${ROW} AND task IS NULL`;
    const found = moves.filter(({ from, version }) =>
      this.#statements.get(isThere, watch, from, version),
    );
    for (const { from, version } of found) {
      this.#statements.run(`DELETE FROM watched_files WHERE ${ROW}`, watch, from, version);
    }
    this.recordHandled(
      watch,
      found.map(({ to, version }) => ({ path: to, version })),
      at,
    );
  }

  back(watch: number, files: readonly WatchedFile[], at: number): void {
    for (const { path, version } of files) {
      const sql = `UPDATE watched_files SET missing_since = NULL WHERE ${ROW}`;
      this.#statements.run(sql, watch, path, version);
      this.#supersede(watch, path, version, at);
    }
  }

  missing(watch: number, paths: readonly string[], at: number): void {
    for (const path of paths) this.#supersede(watch, path, '', at);
  }

  /** Gives the outcomes to store, in the same transaction: a version that has a result gets no other one. */
  applyOutcomes(jobNumber: number, outcomes: readonly NewOutcome[], at: number): NewOutcome[] {
    return outcomes.map((each) => this.#applyOutcome(taskId(jobNumber, each.index), each, at));
  }

  #applyOutcome(task: number, given: NewOutcome, at: number): NewOutcome {
    const row = this.#statements.get(
      `SELECT watch, copied, ${COLUMNS} FROM watched_files WHERE task = ?`,
      task,
    ) as (FileRow & { watch: number; copied: number }) | undefined;
    if (row === undefined) return given;
    const { watch, path, copied } = row;
    const image = JSON.parse(given.outcome) as ImageOutcome;
    const version = versionRead(image, row);
    const isRead = image.status === 'ok' || !NOT_READ.includes(image.error.code);
    const isNew = copied === 1 || !this.#isElsewhere(watch, path, version);
    this.#statements.run('DELETE FROM watched_files WHERE task = ?', task);
    if (!isRead || !isNew) {
      this.#count({ watch, path, task, result: 'none' });
      return isRead ? { index: given.index, ok: false, outcome: HAS_RESULT } : given;
    }
    this.recordHandled(watch, [{ path, version }], at);
    this.#count({ watch, path, task, result: given.ok ? 'ok' : 'failed' });
    return given;
  }

  /** A file that was submitted by another name came to this one before its turn. */
  #isElsewhere(watch: number, path: string, version: FileVersion): boolean {
    if (inodeOf(version) === NO_INODE) return false;
    const sql = 'SELECT 1 FROM watched_files WHERE watch = ? AND version = ? AND path <> ? LIMIT 1';
    return this.#statements.get(sql, watch, version, path) !== undefined;
  }

  /** The job has ended without outcomes of its other images: they count as failed. */
  release(jobNumber: number): void {
    const rows = this.#statements.all(
      'SELECT watch, path, task FROM watched_files WHERE task >= ? AND task < ?',
      taskId(jobNumber, 0),
      taskId(jobNumber + 1, 0),
    ) as { watch: number; path: string; task: number }[];
    for (const { watch, path, task } of rows) {
      this.#statements.run('UPDATE watched_files SET task = NULL WHERE task = ?', task);
      this.#count({ watch, path, task, result: 'failed' });
    }
  }

  /** An image of this very file, by whatever name it was submitted. */
  #isInJob(watch: number, inode: string): boolean {
    const sql =
      'SELECT 1 FROM watched_files WHERE watch = ? AND version > ? AND version < ? AND task IS NOT NULL LIMIT 1';
    // '.' follows '-'.
    return this.#statements.get(sql, watch, `${inode}-`, `${inode}.`) !== undefined;
  }

  /** A row that is there keeps its task, which has still to end, and its `copied`: no file is submitted twice. */
  #add(
    watch: number,
    path: string,
    version: FileVersion,
    task: number | null,
    isCopy = false,
  ): void {
    this.#statements.run(
      `INSERT INTO watched_files (watch, path, version, task, copied) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET missing_since = NULL, task = coalesce(task, excluded.task)`,
      watch,
      path,
      version,
      task,
      isCopy ? 1 : 0,
    );
  }

  /** The path has this version now. The others are kept for a time: one of them may come back, or have another name. */
  #supersede(watch: number, path: string, version: FileVersion, at: number): void {
    this.#statements.run(
      `UPDATE watched_files SET missing_since = ?
       WHERE ${OF_PATH} AND version <> ? AND task IS NULL AND missing_since IS NULL`,
      at,
      watch,
      path,
      version,
    );
  }

  #count(done: FileDone): void {
    this.#notes.filesDone.push(done);
    if (done.result === 'none') return;
    const column = done.result === 'ok' ? 'succeeded' : 'failed';
    const sql = `UPDATE watches SET ${column} = ${column} + 1 WHERE number = ?`;
    this.#statements.run(sql, done.watch);
  }
}

const NO_INODE = '0';

const inodeOf = (version: FileVersion): string => version.slice(0, version.indexOf('-'));

/** The version that the image was read from; where the outcome does not say it, the one that was submitted. */
function versionRead({ file }: ImageOutcome, { version }: FileRow): FileVersion {
  if (file === undefined) return version;
  const inode = inodeOf(version) === NO_INODE ? NO_INODE : file.inode;
  return `${inode}-${file.size}-${file.modifiedNs}`;
}

export const WATCH_COLUMNS =
  'number, owner, name, created_at AS createdAt, content, listed, submitted, succeeded, failed';

export interface WatchRow {
  number: number;
  owner: string;
  name: string;
  createdAt: number;
  content: string;
  listed: string;
  submitted: number;
  succeeded: number;
  failed: number;
}

export function toWatch({ content, listed, ...row }: WatchRow): StoredWatch {
  const { number, owner, name, createdAt } = row;
  return {
    number,
    owner,
    name,
    createdAt,
    listed: JSON.parse(listed) as string[],
    ...(JSON.parse(content) as WatchContent),
  };
}
