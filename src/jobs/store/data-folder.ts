/** Opens the data folder: one process at a time, a sound database, the settings that make a commit durable. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { makeFolder } from '../../make-folder.js';
import { migrate } from './schema.js';
import { isBusy, isDamaged, isFull } from './sqlite-failure.js';

export type Database = InstanceType<typeof DatabaseSync>;

export interface DataFolder {
  database: Database;
  /** Closes the database and lets the next process in. */
  release(): void;
}

/** Throws an `Error` whose message is meant for the operator. */
export function openDataFolder(dataDir: string, maxPages: number | null): DataFolder {
  makeFolder(dataDir);
  try {
    return openLocked(dataDir, maxPages);
  } catch (error) {
    if (!isFull(error)) throw error;
    throw new Error(
      `The disk of the data folder ${dataDir} is full. Free some space, or point LATTICE_DATA_DIR at another folder.`,
      { cause: error },
    );
  }
}

function openLocked(dataDir: string, maxPages: number | null): DataFolder {
  const lock = lockFolder(dataDir);
  try {
    const database = openDatabase(join(dataDir, 'jobs.db'), maxPages);
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

/**
 * Node has no flock. An open exclusive transaction on a database of its own holds the kernel's lock on that file;
 * the kernel drops it with the process, so a kill leaves nothing stale behind.
 */
function lockFolder(dataDir: string): Database {
  const ownerFile = join(dataDir, 'owner.pid');
  const lock = new DatabaseSync(join(dataDir, 'lock.db'), { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw error;
    throw new Error(
      `The data folder ${dataDir} is in use by process ${readOwner(ownerFile)}. ` +
        'Stop that one, or point LATTICE_DATA_DIR at another folder.',
      { cause: error },
    );
  }
  writeFileSync(ownerFile, `${process.pid}\n`);
  return lock;
}

function readOwner(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '(unknown)';
  }
}

function openDatabase(file: string, maxPages: number | null): Database {
  try {
    const database = new DatabaseSync(file, { timeout: 5000, defensive: true });
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

function damaged(file: string, finding: string): Error {
  return new Error(
    `The job store ${file} is damaged (${finding.replace(/\s+/g, ' ')}). Nothing was changed. ` +
      'Restore the file from a backup, or move it and its -wal and -shm files aside to start with an empty store.',
  );
}

function configure(database: Database, file: string, maxPages: number | null): void {
  // A damaged page opens without an error; only reading every page finds it. First, so that nothing is written on it.
  const { quick_check: finding } = database.prepare('PRAGMA quick_check(1)').get() as {
    quick_check: string;
  };
  if (finding !== 'ok') throw damaged(file, finding);
  const { page_count: pages } = database.prepare('PRAGMA page_count').get() as {
    page_count: number;
  };
  // Before the first table: it cannot be changed afterwards, and setting it writes.
  if (pages === 0) database.exec('PRAGMA auto_vacuum = INCREMENTAL');
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
