/**
 * Files that callers sent, on disk: a folder for each upload, within one quota. In it `files` holds what is whole,
 * `parts` what is being written; a kill leaves nothing else. Nothing but this class writes there, and it makes no
 * links.
 */
import { randomBytes } from 'node:crypto';
import { lstat, mkdir, open, readdir, rename, rm, statfs, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import pLimit from 'p-limit';
import { LatticeError } from '../api/errors.js';
import { amount } from '../api/quotas.js';
import { kindByBytes } from '../files/file-kind.js';
import { checkImagePath } from '../files/image-paths.js';
import { unicodeForms } from '../files/unicode-forms.js';
import { ByteGate } from './byte-gate.js';
import { notRead } from './upload-name.js';

/** Enough for the first bytes of every format. */
const HEAD_BYTES = 1_024;
/** The size of a file on disk is a multiple of it: many small files fill a disk too. */
const BLOCK = 4_096;
/** The job store needs the rest of the disk. */
const RESERVE_BYTES = 64 * 1024 * 1024;
/** Limit of the pictures that are being read into the detector. */
const MOST_BORROWED = 256 * 1024 * 1024;

export const UPLOAD_ID = /^up_[\w-]{24}$/;

/** Below the data folder. */
export const UPLOADS_FOLDER = 'uploads';

export interface UploadLimits {
  /** Limit of all uploads together. */
  maxBytes: number;
  maxFileBytes: number;
  /** Limit of one upload. */
  maxFiles: number;
}

export interface SentFile {
  name: string;
  body: Readable;
  /** Null where the length is not known before. */
  bytes: number | null;
  /** Unix seconds; null where it is not known. */
  modifiedAt: number | null;
}

/** A file that is not taken because of what it is. */
export class LeftOutFile extends LatticeError {
  readonly kind: string;

  constructor(name: string, kind: string, detail = notRead(kind)) {
    super('unsupported_image_format', `'${name}' is left out (${kind}). ${detail}`);
    this.kind = kind;
  }
}

export interface UploadSize {
  files: number;
  /** The bytes on disk. */
  bytes: number;
}

export interface BorrowedPicture {
  bytes: Buffer;
  release: () => void;
}

export class UploadedFiles {
  readonly limits: UploadLimits;
  readonly #folder: string;
  readonly #sizes = new Map<string, UploadSize>();
  #used = 0;
  /** Bytes reserved for files that are being written, by upload. */
  readonly #reserved = new Map<string, number>();
  readonly #gate = new ByteGate(MOST_BORROWED);
  /** Renames are one by one, so that each knows what it replaces. */
  readonly #oneByOne = pLimit(1);

  private constructor(folder: string, limits: UploadLimits) {
    this.#folder = folder;
    this.limits = limits;
  }

  /** Counts what is there, and removes what an ended process did not finish. */
  static async open(dataDir: string, limits: UploadLimits): Promise<UploadedFiles> {
    const files = new UploadedFiles(join(dataDir, UPLOADS_FOLDER), limits);
    for (const id of await files.ids()) {
      await rm(files.#partsOf(id), { recursive: true, force: true });
      files.#count(id, await sizeOf(files.folderOf(id)));
    }
    return files;
  }

  /** Root of what was sent, for listings. */
  folderOf(id: string): string {
    return join(this.#folder, id, 'files');
  }

  sizeOf(id: string): UploadSize {
    return this.#sizes.get(id) ?? { files: 0, bytes: 0 };
  }

  get freeBytes(): number {
    return Math.max(0, this.limits.maxBytes - this.#used - sumOf(this.#reserved.values()));
  }

  /** Bytes of the quota that the upload takes, with files that are being written. */
  takenBy(id: string): number {
    return this.sizeOf(id).bytes + (this.#reserved.get(id) ?? 0);
  }

  /** Ids of all folders that are on disk. */
  async ids(): Promise<string[]> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    });
    return names.filter((name) => UPLOAD_ID.test(name));
  }

  /** Rejects with `storage_unavailable`. */
  async make(id: string): Promise<void> {
    try {
      await mkdir(this.folderOf(id), { recursive: true, mode: 0o700 });
    } catch (cause) {
      throw notWritten(cause);
    }
  }

  /**
   * Throws `uploads_full` where so many more bytes have no room; rejects with `storage_unavailable` where the disk has
   * none.
   */
  async refuseWithoutRoom(bytes: number): Promise<void> {
    if (bytes > this.freeBytes) throw this.#full(bytes);
    const { bavail, bsize } = await statfs(dirname(this.#folder));
    if (bavail * bsize - bytes < RESERVE_BYTES) throw notWritten(null);
  }

  /**
   * Streams a file to disk, in place of one of the same name. Resolves once it is there for good. Rejects with
   * what `refuse` throws for so many more bytes, `LeftOutFile`, `image_too_large`, `uploads_full`,
   * `storage_unavailable`, `bad_request` for a body that ends early, or `validation_failed` for a name that cannot be
   * beside the others.
   */
  async write(
    id: string,
    file: SentFile,
    refuse: (bytes: number) => void = () => undefined,
  ): Promise<{ bytes: number; replaced: boolean }> {
    const { maxFileBytes, maxFiles } = this.limits;
    if (file.bytes !== null && file.bytes > maxFileBytes) throw tooLarge(file.name, maxFileBytes);
    if (this.sizeOf(id).files >= maxFiles) {
      const detail = `An upload has at most ${maxFiles} files.`;
      throw new LatticeError('validation_failed', detail, { errors: [{ detail }] });
    }
    await this.refuseWithoutRoom(file.bytes ?? BLOCK);
    const reservation = this.#openReservation(id, file.bytes ?? 0, refuse);
    const part = join(this.#partsOf(id), randomBytes(9).toString('base64url'));
    try {
      await mkdir(dirname(part), { recursive: true, mode: 0o700 });
      const bytes = await this.#writePart(part, file, reservation);
      const replaced = await this.#oneByOne(() => this.#settle(id, part, file.name, bytes));
      return { bytes, replaced };
    } catch (error) {
      await rm(part, { force: true }).catch(() => undefined);
      throw faultOf(error);
    } finally {
      reservation.release();
    }
  }

  async #writePart(
    part: string,
    { name, body, modifiedAt }: SentFile,
    reservation: SpaceReservation,
  ) {
    const handle = await open(part, 'wx', 0o600);
    try {
      let bytes = 0;
      for await (const chunk of ofPicture(name, chunksOf(body))) {
        bytes += chunk.length;
        if (bytes > this.limits.maxFileBytes) throw tooLarge(name, this.limits.maxFileBytes);
        reservation.grow(bytes);
        await handle.appendFile(chunk);
      }
      if (modifiedAt !== null) await handle.utimes(Date.now() / 1000, modifiedAt);
      await handle.datasync();
      return bytes;
    } finally {
      await handle.close();
    }
  }

  async #settle(id: string, part: string, name: string, bytes: number): Promise<boolean> {
    const target = join(this.folderOf(id), name);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    const before = await lstat(target).catch(() => null);
    await rename(part, target);
    const size = this.sizeOf(id);
    const change = onDisk(bytes) - (before === null ? 0 : onDisk(before.size));
    this.#sizes.set(id, {
      files: size.files + (before === null ? 1 : 0),
      bytes: size.bytes + change,
    });
    this.#used += change;
    return before !== null;
  }

  /** A file whole, once pictures that were borrowed before leave room for it. Rejects with the codes of an image. */
  async borrow(id: string, path: string): Promise<BorrowedPicture> {
    const file = await this.#open(id, path);
    try {
      const status = await file.stat();
      if (!status.isFile()) {
        throw new LatticeError('not_a_regular_file', `'${path}' is no file of the upload.`);
      }
      if (status.size > this.limits.maxFileBytes) throw tooLarge(path, this.limits.maxFileBytes);
      const release = await this.#gate.enter(status.size);
      try {
        return { bytes: await file.readFile(), release };
      } catch (error) {
        release();
        throw error;
      }
    } catch (cause) {
      if (cause instanceof LatticeError) throw cause;
      throw new LatticeError('image_unreadable', `'${path}' cannot be read.`, { cause });
    } finally {
      await file.close();
    }
  }

  async #open(id: string, path: string): Promise<FileHandle> {
    checkImagePath(path, []);
    for (const form of unicodeForms(path)) {
      try {
        return await open(join(this.folderOf(id), form), 'r');
      } catch (cause) {
        const { code } = cause as NodeJS.ErrnoException;
        if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') continue;
        throw new LatticeError('image_unreadable', `'${path}' cannot be read.`, { cause });
      }
    }
    throw new LatticeError('image_not_found', `The upload has no file '${path}'.`);
  }

  /** Without an error where it is not there. */
  async remove(id: string): Promise<void> {
    await rm(join(this.#folder, id), { recursive: true, force: true });
    this.#used -= this.sizeOf(id).bytes;
    this.#sizes.delete(id);
  }

  #partsOf(id: string): string {
    return join(this.#folder, id, 'parts');
  }

  #count(id: string, size: UploadSize): void {
    this.#sizes.set(id, size);
    this.#used += size.bytes;
  }

  #openReservation(id: string, first: number, refuse: (bytes: number) => void): SpaceReservation {
    let own = 0;
    const reserve = (bytes: number): void => {
      const reserved = (this.#reserved.get(id) ?? 0) + bytes;
      if (reserved === 0) this.#reserved.delete(id);
      else this.#reserved.set(id, reserved);
    };
    const grow = (bytes: number): void => {
      const more = onDisk(bytes) - own;
      if (more <= 0) return;
      if (more > this.freeBytes) throw this.#full(more);
      refuse(more);
      reserve(more);
      own += more;
    };
    grow(first);
    return {
      grow,
      release: () => {
        reserve(-own);
      },
    };
  }

  #full(bytes: number): LatticeError {
    const detail =
      `Uploads have room for ${amount(this.freeBytes, 'bytes')} more, and this takes ${amount(bytes, 'bytes')}. Photos go with ` +
      'their jobs: remove jobs, send fewer, or raise LATTICE_UPLOADS_MAX_MB.';
    return new LatticeError('uploads_full', detail);
  }
}

interface SpaceReservation {
  /** Reserves the bytes that the file has so far. Throws `uploads_full`. */
  grow(bytes: number): void;
  release(): void;
}

/** After an error the body is paused and not destroyed, so that the client can still read the answer. */
async function* chunksOf(body: Readable): AsyncGenerator<Buffer, void> {
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  } catch (cause) {
    throw new LatticeError('bad_request', 'The body ended early.', { cause });
  }
}

/** Passes the chunks of a picture on. Rejects with `LeftOutFile` when the first bytes show another kind of file. */
async function* ofPicture(
  name: string,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void> {
  let head: Buffer | null = Buffer.alloc(0);
  for await (const chunk of chunks) {
    head = head === null ? null : Buffer.concat([head, chunk]);
    if (head === null) yield chunk;
    else if (head.length >= HEAD_BYTES) {
      yield checked(name, head);
      head = null;
    }
  }
  if (head !== null) yield checked(name, head);
}

function checked(name: string, head: Buffer): Buffer {
  const kind = kindByBytes(head);
  if (kind === null) return head;
  throw new LeftOutFile(name, kind);
}

async function sizeOf(folder: string): Promise<UploadSize> {
  const size = { files: 0, bytes: 0 };
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const status = await lstat(join(entry.parentPath, entry.name)).catch(() => null);
    size.files += 1;
    size.bytes += onDisk(status?.size ?? 0);
  }
  return size;
}

function sumOf(numbers: Iterable<number>): number {
  let sum = 0;
  for (const each of numbers) sum += each;
  return sum;
}

function onDisk(bytes: number): number {
  return Math.ceil(bytes / BLOCK) * BLOCK;
}

function tooLarge(name: string, most: number): LatticeError {
  return new LatticeError('image_too_large', `'${name}' exceeds ${most} bytes.`);
}

function notWritten(cause: unknown): LatticeError {
  const detail = 'The disk of the data folder has no room for photos, or cannot be written.';
  return new LatticeError('storage_unavailable', detail, { cause, retryAfterS: 30 });
}

const NOT_BESIDE = new Set(['EEXIST', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'ENAMETOOLONG']);

function faultOf(error: unknown): unknown {
  if (error instanceof LatticeError || !(error instanceof Error) || !('code' in error))
    return error;
  if (!NOT_BESIDE.has(String(error.code))) return notWritten(error);
  const detail = 'The name cannot be beside the others: one of them would be a file and a folder.';
  return new LatticeError('validation_failed', detail, { cause: error, errors: [{ detail }] });
}
