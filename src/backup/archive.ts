/**
 * A backup file: a tar with `backup.json`, the database, the pictures, and last `SHA256SUMS` of all of them. So the
 * common tools unpack and check one as well: `tar xf FILE && sha256sum -c SHA256SUMS`.
 */
import { createHash } from 'node:crypto';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { pathFault } from '../base/path-fault.js';
import { ANNOTATED_FOLDER } from '../annotate/annotate.js';
import { UPLOADS_FOLDER } from '../uploads/uploaded-files.js';
import { STORE_FILE } from '../store/data-folder.js';
import { BackupRefused } from './backup-refused.js';
import { entryHead, padding, readEntries, tarEnd, TarFault, type StoredEntry } from './tar.js';

const SUMS = 'SHA256SUMS';
const ABOUT = 'backup.json';
const FORMAT = 1;
/** Limit of the file about the backup, which has a few hundred bytes. */
const MOST_ABOUT_BYTES = 64 * 1024;
const CHUNK = 1024 * 1024;
/** Bytes between two syncs of the backup: a large backlog of writes would delay the syncs of the service. */
const SYNC_EVERY = 8 * CHUNK;

/**
 * Folders of the data folder that belong to the jobs: pictures that were drawn, and photos that were sent. What else
 * lies there can be made again.
 */
export const PICTURE_FOLDERS: readonly string[] = [ANNOTATED_FOLDER, UPLOADS_FOLDER];

const aboutSchema = z.object({
  format: z.literal(FORMAT),
  /** Release of this program, which wrote the file. */
  release: z.string(),
  /** Version of the tables of the database. */
  schema: z.int().min(1),
  /** Unix seconds. Every job that was acknowledged before is in the backup. */
  created_at: z.number(),
  jobs: z.int().min(0),
  /** Number of the jobs that have not ended. */
  unfinished_jobs: z.int().min(0),
  pending_webhooks: z.int().min(0),
});

export type AboutBackup = z.infer<typeof aboutSchema>;

/** An open file, or what is written to in its place. */
export type ArchiveOutput = Pick<FileHandle, 'datasync' | 'sync'> & {
  writeFile(bytes: Uint8Array): Promise<void>;
};

/** Writes a backup. */
export class ArchiveWriter {
  readonly #file: ArchiveOutput;
  #sums = '';
  #unsynced = 0;

  private constructor(file: ArchiveOutput) {
    this.#file = file;
  }

  static async begin(
    file: ArchiveOutput,
    about: Omit<AboutBackup, 'format'>,
  ): Promise<ArchiveWriter> {
    const writer = new ArchiveWriter(file);
    const text = JSON.stringify({ format: FORMAT, ...about }, null, 2);
    await writer.#addText(ABOUT, `${text}\n`, about.created_at);
    return writer;
  }

  /** False if there is no such file any more: pictures expire. Rejects if it grows shorter meanwhile. */
  async add(name: string, path: string, signal?: AbortSignal): Promise<boolean> {
    const source = await open(path, 'r').catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    });
    if (source === null) return false;
    try {
      const { size, mtimeMs } = await source.stat();
      await this.#file.writeFile(entryHead({ name, size, modified: mtimeMs / 1000 }));
      const hash = createHash('sha256');
      let written = 0;
      for await (const part of partsOf(source, 0, size)) {
        signal?.throwIfAborted();
        hash.update(part);
        await this.#file.writeFile(part);
        written += part.length;
        await this.#keepUp(part.length);
      }
      if (written < size) throw new BackupRefused(`${path} grew shorter while it was read.`);
      await this.#file.writeFile(padding(size));
      this.#note(name, hash.digest('hex'));
      return true;
    } finally {
      await source.close();
    }
  }

  /** Makes the file whole, on disk. */
  async end(now: number): Promise<void> {
    await this.#addText(SUMS, this.#sums, now);
    await this.#file.writeFile(tarEnd());
    await this.#file.sync();
  }

  async #keepUp(bytes: number): Promise<void> {
    this.#unsynced += bytes;
    if (this.#unsynced < SYNC_EVERY) return;
    await this.#file.datasync();
    this.#unsynced = 0;
  }

  async #addText(name: string, text: string, modified: number): Promise<void> {
    const bytes = Buffer.from(text);
    await this.#file.writeFile(
      Buffer.concat([
        entryHead({ name, size: bytes.length, modified }),
        bytes,
        padding(bytes.length),
      ]),
    );
    this.#note(name, sumOf(text));
  }

  #note(name: string, sum: string): void {
    this.#sums += `${sum}  ${name}\n`;
  }
}

/** Reads a backup. Its entries are the database and pictures, each with a name that stays beneath a folder. */
export class ArchiveReader implements AsyncDisposable {
  readonly entries: readonly StoredEntry[];
  readonly about: AboutBackup;
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #sums: ReadonlyMap<string, string>;

  private constructor(
    path: string,
    file: FileHandle,
    contents: { about: AboutBackup; entries: StoredEntry[]; sums: Map<string, string> },
  ) {
    this.#path = path;
    this.#file = file;
    this.about = contents.about;
    this.entries = contents.entries;
    this.#sums = contents.sums;
  }

  /** Rejects with `BackupRefused` what is no whole backup; the contents are not read yet. */
  static async open(path: string): Promise<ArchiveReader> {
    const file = await open(path, 'r').catch((error: unknown) => {
      throw new BackupRefused(pathFault(error, path, 'read'), { cause: error });
    });
    try {
      if ((await stat(path)).isDirectory()) throw new BackupRefused(`${path} is a folder.`);
      return new ArchiveReader(path, file, await readContents(path, file));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Copies the content of an entry to a new file, on disk. Rejects with `BackupRefused` if it is damaged. */
  async unpack(entry: StoredEntry, target: string, signal?: AbortSignal): Promise<void> {
    const output = await open(target, 'wx', 0o600);
    try {
      await this.#read(entry, (part) => output.writeFile(part), signal);
      await output.utimes(entry.modified, entry.modified);
      await output.sync();
    } finally {
      await output.close();
    }
  }

  /** Reads the content of an entry. Rejects with `BackupRefused` if it is damaged. */
  check(entry: StoredEntry, signal?: AbortSignal): Promise<void> {
    return this.#read(entry, () => Promise.resolve(), signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }

  async #read(
    { name, start, size }: StoredEntry,
    take: (part: Buffer) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<void> {
    const hash = createHash('sha256');
    for await (const part of partsOf(this.#file, start, size)) {
      signal?.throwIfAborted();
      hash.update(part);
      await take(part);
    }
    if (hash.digest('hex') === this.#sums.get(name)) return;
    throw notWhole(this.#path, `${name} is not as it was saved`);
  }
}

/** Each part is valid until the next one is asked for. Ends early where the file does. */
async function* partsOf(file: FileHandle, start: number, size: number): AsyncGenerator<Buffer> {
  const buffer = Buffer.alloc(Math.min(CHUNK, size));
  for (let at = 0; at < size;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(CHUNK, size - at), start + at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

async function readContents(path: string, file: FileHandle) {
  await refuseCompressed(path, file);
  const all = await readEntries(file).catch((error: unknown) => {
    throw error instanceof TarFault ? notWhole(path, error.message) : error;
  });
  // Other tools pack them in another order.
  const entryOf = (name: string) => all.find((entry) => entry.name === name);
  const [first, last] = [entryOf(ABOUT), entryOf(SUMS)];
  if (first === undefined) throw notOurs(path, all);
  if (last === undefined) throw notWhole(path, `its list of sums, ${SUMS}, is missing`);
  if (first.size > MOST_ABOUT_BYTES) throw notOurs(path, all);
  const aboutText = await textOf(file, first);
  const about = aboutSchema.safeParse(jsonOf(aboutText));
  if (!about.success) throw notOurs(path, all);
  const sums = new Map<string, string>();
  for (const line of (await textOf(file, last)).split('\n')) {
    const [, sum, name] = /^([0-9a-f]{64}) {2}(.+)$/s.exec(line) ?? [];
    if (sum !== undefined && name !== undefined) sums.set(name, sum);
  }
  const entries = all.filter((entry) => entry !== first && entry !== last);
  const isComplete =
    sums.size === entries.length + 1 &&
    new Set(entries.map(({ name }) => name)).size === entries.length &&
    entries.every(({ name }) => sums.has(name));
  if (!isComplete) throw notWhole(path, 'its list of sums has other files than it holds');
  if (sumOf(aboutText) !== sums.get(ABOUT)) throw notWhole(path, `${ABOUT} is not as it was saved`);
  const odd = entries.find(({ name }) => !isExpected(name));
  if (odd !== undefined) throw notWhole(path, `it holds ${odd.name}, which is in no backup`);
  if (!entries.some(({ name }) => name === STORE_FILE)) throw notWhole(path, 'it has no jobs');
  return { about: about.data, entries, sums };
}

function isExpected(name: string): boolean {
  if (name === STORE_FILE) return true;
  const [folder = '', ...rest] = name.split('/');
  const staysBeneath = rest.every(
    (part) => !['', '.', '..'].includes(part) && !part.includes('\0'),
  );
  return PICTURE_FOLDERS.includes(folder) && rest.length > 0 && staysBeneath;
}

const sumOf = (text: string) => createHash('sha256').update(text).digest('hex');

async function textOf(file: FileHandle, { start, size }: StoredEntry): Promise<string> {
  const { buffer } = await file.read(Buffer.alloc(size), 0, size, start);
  return buffer.toString('utf8');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function notWhole(path: string, finding: string): BackupRefused {
  return new BackupRefused(
    `${path} is no whole backup (${finding}). Nothing was changed. Take another backup.`,
  );
}

function notOurs(path: string, entries: readonly StoredEntry[]): BackupRefused {
  const within = entries.find(({ name }) => name.endsWith(`/${ABOUT}`));
  if (within !== undefined) {
    const folder = within.name.slice(0, -ABOUT.length - 1);
    return new BackupRefused(
      `${path} has its files in the folder ${folder}. Nothing was changed. Pack them without it: tar cf FILE -C ${folder} .`,
    );
  }
  return new BackupRefused(
    `${path} was not written by \`lattice backup\`, or by a later release. Nothing was changed.`,
  );
}

/** First bytes of compressed files, and the command that unpacks one. */
const COMPRESSED: readonly [bytes: number[], kind: string, unpack: string][] = [
  [[0x1f, 0x8b], 'gzip', 'gunzip'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'zstd', 'unzstd'],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a], 'xz', 'unxz'],
  [[0x42, 0x5a, 0x68], 'bzip2', 'bunzip2'],
  [[0x50, 0x4b, 0x03, 0x04], 'zip', 'unzip'],
];

/** The content of an entry is read where it lies, which a compressed file does not allow. */
async function refuseCompressed(path: string, file: FileHandle): Promise<void> {
  const { buffer } = await file.read(Buffer.alloc(5), 0, 5, 0);
  const found = COMPRESSED.find(([bytes]) => bytes.every((byte, at) => buffer[at] === byte));
  if (found === undefined) return;
  const [, kind, unpack] = found;
  throw new BackupRefused(
    `${path} is compressed (${kind}). Nothing was changed. Unpack it first: ${unpack} ${path}`,
  );
}
