/** Makes a backup of a data folder, beside the service that uses it or without one. */
import { constants, existsSync, readdirSync } from 'node:fs';
import { open, readdir, realpath, rename, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { backup as copyDatabase, DatabaseSync } from '@photostructure/sqlite';
import { packageVersion } from '../base/package.js';
import { outputPlace, partOf, type OutputPlace } from '../base/output-place.js';
import { pathFault } from '../base/path-fault.js';
import { syncFolder } from '../base/sync-folder.js';
import { withTemporaryFolder } from '../base/temporary-folder.js';
import { STORE_FILE } from '../store/data-folder.js';
import type { Database } from '../store/schema.js';
import { refuseForeign } from '../store/schema.js';
import { isBusy, isDamaged, isFull } from '../store/sqlite-failure.js';
import { ArchiveWriter, PICTURE_FOLDERS, type AboutBackup, type ArchiveOutput } from './archive.js';
import { BackupRefused } from './backup-refused.js';

export interface BackupOptions {
  dataDir: string;
  /** Appears when it is complete; a pipe, a device or `-` is written to. */
  file: string;
  /** Takes what `-` is given. */
  standardOutput: (part: Uint8Array) => Promise<void>;
  /** True: the backup also has drawn pictures and photos that were sent. */
  pictures: boolean;
  /** A file of that name may be replaced. */
  replace: boolean;
  signal?: AbortSignal;
  /** Gets the present step, for people. */
  onProgress?: (text: string) => void;
}

export interface Backup extends Omit<AboutBackup, 'format'> {
  pictures: number;
  bytes: number;
  /** True: the backup went to standard output. */
  isPrinted: boolean;
}

/** Pages of 4 KiB that are copied between two looks at the signal. */
const PAGES_PER_STEP = 1000;
const SYNC_PAUSE_MS = 5;

/**
 * The service goes on meanwhile: the database is read as it was at one moment. Rejects with `BackupRefused`; what was
 * written until then is removed, or by the next backup to that file if this process is killed.
 */
export async function backUp(options: BackupOptions): Promise<Backup> {
  const place = await placeFor(options);
  try {
    if (place.kind === 'file') return await backUpToFile(place.path, options);
    return await backUpThrough(place, options);
  } catch (error) {
    throw isFullDisk(error)
      ? new BackupRefused(`No space is left on the disk of ${options.file}.`, { cause: error })
      : error;
  }
}

async function backUpToFile(target: string, options: BackupOptions): Promise<Backup> {
  await removeLeftovers(target);
  const part = partOf(target);
  const copy = `${part}.db`;
  try {
    const file = await open(part, 'wx', 0o600);
    try {
      const about = await copyStore(join(options.dataDir, STORE_FILE), copy, options);
      const pictures = await writeArchive(file, copy, about, options);
      const { size: bytes } = await file.stat();
      await rename(part, target);
      syncFolder(dirname(target));
      return { ...about, pictures, bytes, isPrinted: false };
    } finally {
      await file.close();
    }
  } finally {
    await removeAll(part);
  }
}

/**
 * Writes the backup to a pipe, a device or standard output. The copy of the database lies in the folder for temporary
 * files.
 */
async function backUpThrough(
  place: Exclude<OutputPlace, { kind: 'file' }>,
  options: BackupOptions,
): Promise<Backup> {
  const device = place.kind === 'device' ? await open(place.path, constants.O_WRONLY) : null;
  let bytes = 0;
  const write = async (part: Uint8Array): Promise<void> => {
    bytes += part.length;
    if (device === null) await options.standardOutput(part);
    else await device.writeFile(part);
  };
  const settle = () => Promise.resolve();
  try {
    return await withTemporaryFolder('backup', async (folder) => {
      const copy = join(folder, STORE_FILE);
      const about = await copyStore(join(options.dataDir, STORE_FILE), copy, options);
      const output = { writeFile: write, datasync: settle, sync: settle };
      const pictures = await writeArchive(output, copy, about, options);
      return { ...about, pictures, bytes, isPrinted: device === null };
    });
  } catch (error) {
    const isWrite = error instanceof Error && 'syscall' in error && error.syscall === 'write';
    if (!isWrite || isFullDisk(error)) throw error;
    throw new BackupRefused(pathFault(error, options.file, 'write'), { cause: error });
  } finally {
    await device?.close();
  }
}

async function writeArchive(
  file: ArchiveOutput,
  copy: string,
  about: Omit<AboutBackup, 'format'>,
  { dataDir, pictures, signal, onProgress }: BackupOptions,
): Promise<number> {
  onProgress?.('packing the jobs');
  const writer = await ArchiveWriter.begin(file, about);
  await writer.add(STORE_FILE, copy, signal);
  await rm(copy);
  let count = 0;
  // Pictures follow the database, because a photo is stored before its job.
  for (const folder of pictures ? PICTURE_FOLDERS : []) {
    for await (const name of filesBeneath(dataDir, folder)) {
      signal?.throwIfAborted();
      if (!(await writer.add(name, join(dataDir, name), signal))) continue;
      count += 1;
      if (count % 100 === 0) onProgress?.(`packing pictures: ${count}`);
    }
  }
  await writer.end(Date.now() / 1000);
  return count;
}

/** Copies the store as it is at one moment, and reads the copy to its last page. */
async function copyStore(
  file: string,
  copy: string,
  { signal, onProgress }: BackupOptions,
): Promise<Omit<AboutBackup, 'format'>> {
  if (!existsSync(file)) {
    throw new BackupRefused(
      `There are no jobs in ${dirname(file)}. Give the data folder of the service: --data-dir or LATTICE_DATA_DIR.`,
    );
  }
  try {
    const createdAt = Date.now() / 1000;
    const source = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
    try {
      // From here on the copy does not see the writes of the service; without this, each of them would begin the copy
      // anew.
      source.exec('BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1');
      refuseForeign(source, file);
      await whileSyncing(copy, () =>
        copyDatabase(source, copy, {
          rate: PAGES_PER_STEP,
          progress: ({ totalPages, remainingPages }) => {
            signal?.throwIfAborted();
            const done = Math.floor((100 * (totalPages - remainingPages)) / totalPages);
            onProgress?.(`copying the jobs: ${done} %`);
          },
        }),
      );
      source.exec('COMMIT');
    } finally {
      source.close();
    }
    signal?.throwIfAborted();
    onProgress?.('checking the copy');
    return { release: packageVersion(), created_at: createdAt, ...checkCopy(copy) };
  } catch (error) {
    signal?.throwIfAborted();
    throw refusalOf(error, file);
  }
}

/**
 * Puts on disk, little by little, what `work` writes to `file`: one sync at its end would delay those of the service.
 */
async function whileSyncing(file: string, work: () => Promise<unknown>): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  let working = true;
  const syncing = (async () => {
    while (working) {
      await handle.datasync();
      await sleep(SYNC_PAUSE_MS);
    }
  })();
  try {
    await work();
  } finally {
    working = false;
    await syncing.finally(() => handle.close());
  }
}

function checkCopy(copy: string): Omit<AboutBackup, 'format' | 'release' | 'created_at'> {
  const database = new DatabaseSync(copy);
  try {
    // The backup is one file, without a write-ahead log beside it.
    database.exec('PRAGMA journal_mode = DELETE');
    const { quick_check: finding } = database.prepare('PRAGMA quick_check(1)').get() as {
      quick_check: string;
    };
    if (finding !== 'ok') throw new DamagedStore(finding);
    return { schema: schemaOf(database), ...countsOf(database) };
  } finally {
    database.close();
  }
}

class DamagedStore extends Error {}

export function schemaOf(database: Database): number {
  const { user_version: schema } = database.prepare('PRAGMA user_version').get() as {
    user_version: number;
  };
  return schema;
}

/** Counts rows in tables that every release has. */
function countsOf(
  database: Database,
): Pick<AboutBackup, 'jobs' | 'unfinished_jobs' | 'pending_webhooks'> {
  return {
    ...(database
      .prepare(
        `SELECT count(*) AS jobs, count(*) FILTER (WHERE status IN ('pending', 'running')) AS unfinished_jobs,
           (SELECT count(*) FROM webhook_deliveries WHERE state = 'pending') AS pending_webhooks FROM jobs`,
      )
      .get() as ReturnType<typeof countsOf>),
  };
}

function refusalOf(error: unknown, file: string): unknown {
  if (isDamaged(error) || error instanceof DamagedStore) {
    const finding = String(error instanceof Error ? error.message : error).replace(/\s+/g, ' ');
    return new BackupRefused(
      `The job store ${file} is damaged (${finding}). No backup was made; the ones before are all there is.`,
      { cause: error },
    );
  }
  if (isBusy(error)) {
    return new BackupRefused(
      `Another process keeps ${file} to itself. A service that was started on a full disk does so: free some space ` +
        'and restart it.',
      { cause: error },
    );
  }
  return error;
}

async function placeFor({ file, dataDir, replace }: BackupOptions): Promise<OutputPlace> {
  const target = resolve(file);
  const home = await realpath(dataDir).catch(() => dataDir);
  const refuseSaved = (path: string, folderOfData: string): void => {
    if (!PICTURE_FOLDERS.some((folder) => path.startsWith(join(folderOfData, folder) + sep)))
      return;
    throw new BackupRefused(`${target} lies in a folder that goes into the backup. Name another.`);
  };
  refuseSaved(target, resolve(dataDir));
  const place = await outputPlace(file).catch((error: unknown) => {
    const isFolder = error instanceof Error && 'code' in error && error.code === 'EISDIR';
    throw isFolder
      ? new BackupRefused(`${target} is a folder. Name a file in it, as jobs.tar.`)
      : new BackupRefused(pathFault(error, dirname(target), 'read'), { cause: error });
  });
  if (place.kind === 'standard output') return place;
  // A disk's content is lost as that of a file is; what goes through a pipe or a terminal takes nothing's place.
  const isKept = place.kind === 'file' ? place.before !== null : place.before.isBlockDevice();
  if (isKept && !replace) {
    throw new BackupRefused(`${target} is already there. --force replaces it.`);
  }
  if (place.kind === 'device') return place;
  refuseSaved(place.path, home);
  try {
    readdirSync(dirname(place.path));
  } catch (error) {
    throw new BackupRefused(pathFault(error, dirname(target), 'read'), { cause: error });
  }
  return place;
}

/**
 * Removes the unfinished backups to this file whose process has ended. One that has the id of this process is of an
 * earlier one: containers give the same ids again.
 */
async function removeLeftovers(target: string): Promise<void> {
  const leftover = `${basename(target)}.part-`;
  for (const name of await readdir(dirname(target))) {
    if (!name.startsWith(leftover)) continue;
    const [, pid] = /^(\d+)(\.db.*)?$/.exec(name.slice(leftover.length)) ?? [];
    if (pid === undefined || (Number(pid) !== process.pid && isAlive(Number(pid)))) continue;
    await rm(join(dirname(target), name), { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function removeAll(part: string): Promise<void> {
  for (const suffix of ['', '.db', '.db-journal', '.db-wal', '.db-shm']) {
    await rm(`${part}${suffix}`, { force: true });
  }
}

/** Plain files that are complete, by their names beneath `dataDir`. */
async function* filesBeneath(dataDir: string, folder: string): AsyncGenerator<string> {
  const entries = await readdir(join(dataDir, folder), { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* filesBeneath(dataDir, name);
    else if (entry.isFile() && !entry.name.endsWith('.part')) yield name;
  }
}

function isFullDisk(error: unknown): boolean {
  return isFull(error) || (error instanceof Error && 'code' in error && error.code === 'ENOSPC');
}
