/** Opens the data folder: one process at a time, a sound database, the settings that make a commit durable. */
import {
  chmodSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { makeFolder } from '../base/make-folder.js';
import { syncFolder } from '../base/sync-folder.js';
import { applyMigrations, migrate, refuseForeign, type Database } from './schema.js';
import { isBusy, isDamaged, isFull } from './sqlite-failure.js';

/** The database in a data folder. */
export const STORE_FILE = 'jobs.db';
/** The folder beneath the data folder in which a restore unpacks a backup. */
export const RESTORE_FOLDER = 'restore.part';

export interface DataFolder {
  database: Database;
  /** Closes the database and releases the folder. */
  release(): void;
}

/** Throws an `Error` whose message is meant for the operator. */
export function openDataFolder(dataDir: string, maxPages: number | null): DataFolder {
  makeFolder(dataDir);
  try {
    return openLocked(dataDir, maxPages);
  } catch (error) {
    if (!isFull(error) && !(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) {
      throw error;
    }
    throw new Error(
      `The disk of the data folder ${dataDir} is full. Free some space, or point LATTICE_DATA_DIR at another folder.`,
      { cause: error },
    );
  }
}

function openLocked(dataDir: string, maxPages: number | null): DataFolder {
  const lock = lockFolder(dataDir);
  try {
    const file = join(dataDir, STORE_FILE);
    if (sizeOf(file) === null) {
      if (existsSync(join(dataDir, RESTORE_FOLDER))) throw halfRestored(dataDir);
      makeDatabase(file, maxPages);
    }
    if (sizeOf(file) === 0) throw damaged(file, 'it has 0 bytes');
    const database = openDatabase(file, maxPages);
    return {
      database,
      release: () => {
        database.close();
        lock.close();
      },
    };
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** An empty store in its place would hide that the jobs are not there yet. */
function halfRestored(dataDir: string): Error {
  return new Error(
    `A restore into the data folder ${dataDir} was broken off. Run \`lattice restore\` again, with --force, or remove ` +
      `its folder ${RESTORE_FOLDER} to start with an empty store.`,
  );
}

/**
 * The folder is this process's alone until the lock is closed. Throws an `Error` for the operator where it is
 * another's.
 *
 * Node has no flock. An open exclusive transaction on a database of its own holds the kernel's lock on that file;
 * the kernel drops it with the process, so a kill leaves nothing stale behind.
 */
export function lockFolder(dataDir: string): Database {
  const ownerFile = join(dataDir, 'owner.pid');
  const lockFile = join(dataDir, 'lock.db');
  const lock = new DatabaseSync(lockFile, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (isDamaged(error)) {
      throw new Error(`${lockFile} is damaged (${String(error)}). It holds no data: remove it.`, {
        cause: error,
      });
    }
    if (!isBusy(error)) throw error;
    throw new Error(
      `The data folder ${dataDir} is in use by process ${readOwner(ownerFile)}. ` +
        'Stop that one, or point LATTICE_DATA_DIR at another folder.',
      { cause: error },
    );
  }
  try {
    writeFileSync(ownerFile, `${process.pid}\n`);
  } catch {
    // A full disk: the lock holds without the name of its holder.
  }
  return lock;
}

function readOwner(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '(unknown)';
  }
}

/**
 * Makes the tables in a file of another name: a start that breaks off never leaves a `jobs.db` without them, so an
 * empty `jobs.db` is always the loss of one that had jobs.
 */
function makeDatabase(file: string, maxPages: number | null): void {
  if ((sizeOf(`${file}-wal`) ?? 0) > 0) throw damaged(file, 'it is missing beside its -wal file');
  const draft = `${file}.new`;
  for (const suffix of ['', '-wal', '-journal']) rmSync(`${draft}${suffix}`, { force: true });
  writeFileSync(draft, '', { mode: 0o600 });
  // `exec` alone, in the journal mode of a new file: a prepared statement would keep the draft open after `close`.
  const database = new DatabaseSync(draft);
  try {
    if (maxPages !== null) database.exec(`PRAGMA max_page_count = ${maxPages}`);
    // Set it before the first table is made: it cannot be changed afterwards.
    database.exec('PRAGMA auto_vacuum = INCREMENTAL');
    applyMigrations(database, 0);
  } finally {
    database.close();
  }
  renameSync(draft, file);
  syncFolder(dirname(file));
}

/** Null if there is no file. */
function sizeOf(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.size ?? null;
}

/** Other users of the machine must not read the requests of callers. */
function keepToOwner(file: string): void {
  try {
    if (existsSync(file)) chmodSync(file, 0o600);
  } catch {
    // Another user owns the file and sets its mode.
  }
}

function openDatabase(file: string, maxPages: number | null): Database {
  try {
    const database = connect(file);
    try {
      configure(database, file, maxPages);
      migrate(database, file);
    } catch (error) {
      database.close();
      throw error;
    }
    return database;
  } catch (error) {
    if (isDamaged(error)) throw damaged(file, String(error));
    throw error;
  }
}

/**
 * On a full disk SQLite cannot make its -shm file, and without that it reads nothing. This process has the folder
 * alone, so that SQLite may keep the index of the write-ahead log in memory instead.
 */
function connect(file: string): Database {
  const open = () => new DatabaseSync(file, { timeout: 5000, defensive: true });
  const database = open();
  try {
    // `exec`, because a prepared statement would keep its lock after `close`.
    database.exec('SELECT 1 FROM sqlite_schema LIMIT 1');
    return database;
  } catch (error) {
    database.close();
    if (!isFull(error)) throw error;
  }
  const alone = open();
  alone.exec('PRAGMA locking_mode = EXCLUSIVE');
  return alone;
}

function damaged(file: string, finding: string): Error {
  return new Error(
    `The job store ${file} is damaged (${finding.replace(/\s+/g, ' ')}). Nothing was changed. ` +
      'Restore a backup (`lattice restore --force`), or move the file and its -wal and -shm files aside to start with ' +
      'an empty store.',
  );
}

function configure(database: Database, file: string, maxPages: number | null): void {
  // A damaged page opens without an error; only reading every page finds it. This comes first, before any write.
  const { quick_check: finding } = database.prepare('PRAGMA quick_check(1)').get() as {
    quick_check: string;
  };
  if (finding !== 'ok') throw damaged(file, finding);
  refuseForeign(database, file);
  // SQLite gives its other files the mode of this one. Files of an earlier start get it too.
  for (const each of [file, `${file}-wal`, `${file}-shm`]) keepToOwner(each);
  const { journal_mode: mode } = database.prepare('PRAGMA journal_mode = WAL').get() as {
    journal_mode: string;
  };
  if (mode !== 'wal') {
    throw new Error(
      `${file} cannot use a write-ahead log (got '${mode}'). The data folder must lie on a local disk.`,
    );
  }
  database.exec(`
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA mmap_size = 0;
    PRAGMA cache_size = -32768;
    PRAGMA wal_autocheckpoint = 1000;
    PRAGMA journal_size_limit = ${64 * 1024 * 1024};
  `);
  if (maxPages !== null) database.exec(`PRAGMA max_page_count = ${maxPages}`);
}
