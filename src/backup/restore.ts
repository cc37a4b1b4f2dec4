/** Puts a backup into a data folder that no service uses. */
import { existsSync, statSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { makeFolder } from '../base/make-folder.js';
import { syncFolder } from '../base/sync-folder.js';
import { lockFolder, RESTORE_FOLDER, STORE_FILE } from '../store/data-folder.js';
import { refuseForeign, SCHEMA_VERSION } from '../store/schema.js';
import { isDamaged } from '../store/sqlite-failure.js';
import { ArchiveReader, PICTURE_FOLDERS, type AboutBackup } from './archive.js';
import { BackupRefused } from './backup-refused.js';
import { schemaOf } from './back-up.js';

export interface RestoreOptions {
  dataDir: string;
  file: string;
  /** Whether the content of the data folder may be moved aside. */
  moveAside: boolean;
  signal?: AbortSignal;
  onProgress?: (text: string) => void;
}

export interface Restored {
  about: AboutBackup;
  pictures: number;
  /** Folder with what was there before; null if there was nothing. */
  aside: string | null;
}

/** All that belongs to the jobs in a data folder; the database last, so that it is never there without its pictures. */
const JOB_FILES = [
  ...['-wal', '-shm', '-journal', '.new'].map((suffix) => `${STORE_FILE}${suffix}`),
  ...['crash.marker', 'crash.uncharged'],
  ...PICTURE_FOLDERS,
  STORE_FILE,
];

/**
 * More than a store can write between a backup and its loss, at 10,000 events a second for three years. The events that
 * the lost store numbered are thus older than those of the restored one, and a client that has seen them learns of the
 * gap; else it would wait for numbers that were given twice.
 */
const SEQ_JUMP = 2 ** 40;

/**
 * Rejects with `BackupRefused`. Nothing is changed before the backup was read and found whole, and nothing is deleted.
 * No service starts on the folder meanwhile.
 */
export async function restore(options: RestoreOptions): Promise<Restored> {
  const { dataDir, file } = options;
  await using archive = await openKnown(file);
  refuseOwner(dataDir);
  makeFolder(dataDir);
  const lock = lockFor(dataDir);
  try {
    const found = JOB_FILES.filter((name) => existsSync(join(dataDir, name)));
    if (found.length > 0 && !options.moveAside) {
      throw new BackupRefused(
        `The data folder ${dataDir} has jobs already (${found.join(', ')}). Nothing was changed. ` +
          '--force moves them aside and deletes nothing.',
      );
    }
    const part = join(dataDir, RESTORE_FOLDER);
    await rm(part, { recursive: true, force: true });
    await mkdir(part, { mode: 0o700 });
    try {
      await unpackAll(archive, part, options);
      prepareStore(join(part, STORE_FILE), file);
    } catch (error) {
      await rm(part, { recursive: true, force: true });
      throw error;
    }
    const aside = found.length === 0 ? null : await moveAside(dataDir, found);
    for (const name of JOB_FILES) {
      if (existsSync(join(part, name))) await rename(join(part, name), join(dataDir, name));
    }
    syncFolder(dataDir);
    await rm(part, { recursive: true, force: true });
    return { about: archive.about, pictures: archive.entries.length - 1, aside };
  } finally {
    lock.close();
  }
}

/**
 * Reads a backup to its end without restoring it. Rejects with `BackupRefused` if it cannot be restored by this
 * release.
 */
export async function checkBackup(
  file: string,
  signal?: AbortSignal,
): Promise<Omit<Restored, 'aside'>> {
  await using archive = await openKnown(file);
  for (const entry of archive.entries) {
    await archive.check(entry, signal);
  }
  return { about: archive.about, pictures: archive.entries.length - 1 };
}

async function openKnown(file: string): Promise<ArchiveReader> {
  const archive = await ArchiveReader.open(file);
  const { release, schema } = archive.about;
  if (schema <= SCHEMA_VERSION) return archive;
  await archive[Symbol.asyncDispose]();
  throw laterRelease(file, release, schema);
}

function laterRelease(file: string, release: string, schema: number): BackupRefused {
  return new BackupRefused(
    `${file} is of a later release (${release}: schema ${schema}, this one knows ${SCHEMA_VERSION}). ` +
      'Nothing was changed. Restore it with that release.',
  );
}

/** Files that root makes could not be written by the service's user. */
function refuseOwner(dataDir: string): void {
  const owner = statSync(dataDir, { throwIfNoEntry: false })?.uid ?? 0;
  if (process.getuid?.() !== 0 || owner === 0) return;
  throw new BackupRefused(
    `The data folder ${dataDir} belongs to user ${owner}. Run the command as that user: sudo -u '#${owner}' ...`,
  );
}

function lockFor(dataDir: string): ReturnType<typeof lockFolder> {
  try {
    return lockFolder(dataDir);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BackupRefused(`${reason} Nothing was changed.`, { cause: error });
  }
}

async function unpackAll(
  archive: ArchiveReader,
  part: string,
  { signal, onProgress }: RestoreOptions,
): Promise<void> {
  const folders = new Set<string>();
  let count = 0;
  for (const entry of archive.entries) {
    const target = join(part, entry.name);
    if (!folders.has(dirname(target))) makeFolder(dirname(target));
    folders.add(dirname(target));
    await archive.unpack(entry, target, signal);
    count += 1;
    onProgress?.(`unpacking: ${count} of ${archive.entries.length}`);
  }
  for (const folder of folders) syncFolder(folder);
}

/** Checks the database and numbers its next event. */
function prepareStore(store: string, file: string): void {
  const database = new DatabaseSync(store);
  try {
    const { integrity_check: finding } = database.prepare('PRAGMA integrity_check(1)').get() as {
      integrity_check: string;
    };
    if (finding !== 'ok') throw damaged(file, finding);
    refuseForeign(database, file);
    const schema = schemaOf(database);
    if (schema > SCHEMA_VERSION) throw laterRelease(file, 'not known', schema);
    database.exec(`
      PRAGMA synchronous = FULL;
      BEGIN;
      INSERT INTO sqlite_sequence (name, seq)
        SELECT 'outbox', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'outbox');
      UPDATE sqlite_sequence SET seq = seq + ${SEQ_JUMP} WHERE name = 'outbox';
      COMMIT;
    `);
  } catch (error) {
    throw isDamaged(error) ? damaged(file, String(error)) : error;
  } finally {
    database.close();
  }
}

function damaged(file: string, finding: string): BackupRefused {
  return new BackupRefused(
    `The jobs in ${file} are damaged (${finding.replace(/\s+/g, ' ')}). Nothing was changed. Take another backup.`,
  );
}

/** Moves the files into a folder of the data folder, which may be a volume of its own. */
async function moveAside(dataDir: string, names: readonly string[]): Promise<string> {
  const time = new Date().toISOString().replace(/[-:]/g, '').replace('.', '-');
  const aside = join(dataDir, `replaced-${time}`);
  await mkdir(aside, { mode: 0o700 });
  // The database first: without its write-ahead log it would look like a whole one of an earlier time.
  for (const name of [...names].reverse()) await rename(join(dataDir, name), join(aside, name));
  syncFolder(aside);
  return aside;
}
