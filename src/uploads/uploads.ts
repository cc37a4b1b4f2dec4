/**
 * Photos that a caller sends for a job: a folder with an owner. A job that names it keeps it; without one it is
 * removed, at once where a job had it, else an hour after its last use.
 */
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { LatticeError } from '../api/errors.js';
import { NO_ALLOWANCES, refuseExcess, type Allowances } from '../store/allowances.js';
import { countKinds, leftOutFiles, type LeftOut } from '../api/left-out.js';
import type { Logger } from '../base/logger-port.js';
import {
  LeftOutFile,
  UPLOAD_ID,
  type BorrowedPicture,
  type UploadedFiles,
  type UploadSize,
} from './uploaded-files.js';
import { notRead, refusedName } from './upload-name.js';
import { pageOf, readCursor, writeCursor } from '../api/schemas/list-page.js';
import type { ServiceStore } from '../store/service-store.js';
import { uploadNotFound, type StoredUpload, type UploadPosition } from '../store/upload-rows.js';

/** How long an upload waits for a job. */
export const IDLE_SECONDS = 3_600;
/** Limit of the uploads of one owner that no job has: each takes a row and a folder, also without a file. */
const MOST_IDLE = 64;

export interface PlannedFile {
  name: string;
  /** Undefined: not known. */
  bytes?: number | undefined;
}

export interface LeftOutName {
  name: string;
  kind: string;
  detail: string;
}

/** waiting: for a job; in_use: a job has it; ended: its job is gone, and it is about to be removed. */
export const UPLOAD_STATES = ['waiting', 'in_use', 'ended'] as const;

export interface Upload extends UploadSize {
  uploadId: string;
  state: (typeof UPLOAD_STATES)[number];
  /** Unix seconds; null for one of an earlier release. */
  createdAt: number | null;
  /** Unix seconds; null once a job has it. */
  expiresAt: number | null;
  freeBytes: number;
}

export interface NewFile {
  name: string;
  body: Readable;
  bytes: number | null;
  modifiedAt: number | null;
}

type UploadCalls = Pick<
  ServiceStore,
  'upload' | 'uploads' | 'idleUploads' | 'uploadIds' | 'addUpload' | 'leaveOut' | 'removeUploads'
>;

export interface UploadsParts {
  store: UploadCalls;
  files: UploadedFiles;
  /** The owner of each upload. */
  owners?: Map<string, string | null>;
  /** Limits per API key. */
  allowances?: Allowances;
  /** Why none are taken; those that are there stay as long as their jobs. Null: they are. */
  off: string | null;
  logger: Pick<Logger, 'warn' | 'info'>;
  /** Milliseconds of a clock that nothing sets. */
  now?: () => number;
}

/** Rejects with `upload_not_found` for another owner's upload too. */
export class Uploads {
  readonly #parts: UploadsParts;
  readonly #now: () => number;
  /** Time of the last use in this process; an upload of an earlier one counts as used at the start. */
  readonly #usedAt = new Map<string, number>();
  readonly #startedAt: number;
  readonly #owners: Map<string, string | null>;
  /** Files that are being written, by upload. */
  readonly #writing = new Map<string, number>();

  constructor(parts: UploadsParts) {
    this.#parts = parts;
    this.#now = parts.now ?? (() => performance.now());
    this.#startedAt = this.#now();
    this.#owners = parts.owners ?? new Map<string, string | null>();
  }

  /**
   * Makes a folder for those of the files that are read. Rejects with `uploads_full`, `quota_exceeded`, `rate_limited`
   * or `storage_unavailable`.
   */
  async create(
    planned: readonly PlannedFile[],
    keyId: string | null,
  ): Promise<{ upload: Upload; leftOut: LeftOutName[] }> {
    const { store, files } = this.#parts;
    this.#refuseWhereOff();
    const { leftOut, bytes, taken } = plan(planned, files.limits.maxFileBytes);
    if (taken > files.limits.maxFiles) {
      const detail = `A job has at most ${files.limits.maxFiles} images, and these are ${taken}.`;
      throw new LatticeError('validation_failed', detail, {
        errors: [{ detail, pointer: '#/files' }],
      });
    }
    await files.refuseWithoutRoom(bytes);
    this.#refuseBeyond(keyId, bytes);
    const idle = (await store.idleUploads()).filter(({ owner }) => owner === keyId);
    if (idle.length >= MOST_IDLE) {
      const detail = `${MOST_IDLE} uploads wait for a job already. Submit or delete one.`;
      throw new LatticeError('rate_limited', detail, { retryAfterS: 60 });
    }
    const uploadId = `up_${randomBytes(18).toString('base64url')}`;
    const kinds = Object.fromEntries(leftOut.map(({ name, kind }) => [name, kind]));
    // The row first: a folder without one is what a kill left behind.
    const row = { uploadId, owner: keyId, createdAt: Date.now() / 1_000, leftOut: kinds };
    await store.addUpload(row);
    this.#owners.set(uploadId, keyId);
    this.#use(uploadId);
    await files.make(uploadId);
    return { upload: this.#view({ ...row, taken: false, kept: false }), leftOut };
  }

  async get(uploadId: string, keyId: string | null): Promise<Upload> {
    return this.#view(await this.#find(uploadId, keyId));
  }

  /** Newest first. Rejects with `validation_failed` for a cursor that no page gave. */
  async list(
    keyId: string | null,
    { limit, cursor }: { limit: number; cursor: string | null },
  ): Promise<{ uploads: Upload[]; nextCursor: string | null }> {
    const after = cursor === null ? null : readCursor(cursor, 'a list', positionOf);
    const found = await this.#parts.store.uploads(keyId, limit + 1, after);
    const { shown, nextCursor } = pageOf(found, limit, ({ createdAt, uploadId }) =>
      writeCursor([createdAt ?? 0, uploadId]),
    );
    return { uploads: shown.map((upload) => this.#view(upload)), nextCursor };
  }

  /** Rejects as `UploadedFiles.write`, with `quota_exceeded`; also with `upload_in_use`. */
  async write(
    uploadId: string,
    keyId: string | null,
    file: NewFile,
  ): Promise<{ bytes: number; replaced: boolean }> {
    this.#refuseWhereOff();
    await this.#findIdle(uploadId, keyId);
    this.#writing.set(uploadId, (this.#writing.get(uploadId) ?? 0) + 1);
    try {
      refuseName(file.name);
      return await this.#parts.files.write(uploadId, file, (bytes) => {
        this.#refuseBeyond(keyId, bytes);
      });
    } catch (error) {
      if (error instanceof LeftOutFile) {
        await this.#parts.store.leaveOut(uploadId, file.name, error.kind);
      }
      throw error;
    } finally {
      const left = (this.#writing.get(uploadId) ?? 1) - 1;
      if (left === 0) this.#writing.delete(uploadId);
      else this.#writing.set(uploadId, left);
      this.#use(uploadId);
    }
  }

  /** Removes an upload that no job has; `upload_in_use` else. */
  async remove(uploadId: string, keyId: string | null): Promise<void> {
    await this.#findIdle(uploadId, keyId);
    if ((await this.#parts.store.removeUploads([uploadId])).length === 0) throw inUse();
    await this.#forget([uploadId]);
  }

  /** Where its files are, and what was left out of it. Rejects with `validation_failed` where it has no file. */
  async forJob(
    uploadId: string,
    keyId: string | null,
  ): Promise<{ root: string; leftOut: (images: readonly string[]) => LeftOut }> {
    const { files } = this.#parts;
    const { leftOut } = await this.#find(uploadId, keyId);
    this.#use(uploadId);
    if (files.sizeOf(uploadId).files === 0) {
      const others = leftOutFiles(countKinds(Object.values(leftOut)));
      const detail = `The upload has no pictures${others === '' ? '' : `; ${others}`}.`;
      throw new LatticeError('validation_failed', detail, {
        errors: [{ detail, pointer: '#/upload' }],
      });
    }
    return {
      root: files.folderOf(uploadId),
      leftOut: (images) => leftOutOf(leftOut, new Set(images)),
    };
  }

  /** Rejects as `UploadedFiles.borrow`. Who may read it is to be known before. */
  borrow(uploadId: string, path: string): Promise<BorrowedPicture> {
    return this.#parts.files.borrow(uploadId, path);
  }

  /** A file of an upload of this owner. */
  async read(uploadId: string, path: string, keyId: string | null): Promise<BorrowedPicture> {
    await this.#find(uploadId, keyId);
    return this.borrow(uploadId, path);
  }

  /** Root of the paths of a job with this upload. */
  rootOf(uploadId: string): string {
    return this.#parts.files.folderOf(uploadId);
  }

  /** Removes what no job has any more and what none took in time, and folders that a kill left behind. */
  async sweep(): Promise<void> {
    const { store, files, logger } = this.#parts;
    // Before the rows: a folder that is made meanwhile has its row already.
    const onDisk = await files.ids();
    const idle = await store.idleUploads();
    const over = idle.filter(({ uploadId, taken }) => taken || this.#isOver(uploadId));
    const ids = over
      .map(({ uploadId }) => uploadId)
      .filter((uploadId) => !this.#writing.has(uploadId));
    const removed = ids.length === 0 ? [] : await store.removeUploads(ids);
    const known = new Set(await store.uploadIds());
    const gone = new Set([...removed, ...onDisk.filter((id) => !known.has(id))]);
    await this.#forget([...gone]);
    if (gone.size > 0) logger.info({ removed: gone.size }, 'uploads without a job removed');
  }

  async #forget(uploadIds: readonly string[]): Promise<void> {
    for (const id of uploadIds) {
      this.#usedAt.delete(id);
      this.#owners.delete(id);
      await this.#parts.files.remove(id);
    }
  }

  #isOver(uploadId: string): boolean {
    const usedAt = this.#usedAt.get(uploadId) ?? this.#startedAt;
    return this.#now() - usedAt >= IDLE_SECONDS * 1_000;
  }

  #use(uploadId: string): void {
    this.#usedAt.set(uploadId, this.#now());
  }

  #view({ uploadId, createdAt, taken, kept }: StoredUpload): Upload {
    const { files } = this.#parts;
    const usedAt = this.#usedAt.get(uploadId) ?? this.#startedAt;
    const left = IDLE_SECONDS - (this.#now() - usedAt) / 1_000;
    return {
      uploadId,
      state: kept ? 'in_use' : taken ? 'ended' : 'waiting',
      createdAt,
      expiresAt: taken ? null : Date.now() / 1_000 + left,
      ...files.sizeOf(uploadId),
      freeBytes: files.freeBytes,
    };
  }

  async #find(uploadId: string, keyId: string | null): Promise<StoredUpload> {
    if (!UPLOAD_ID.test(uploadId)) throw uploadNotFound();
    return this.#parts.store.upload(uploadId, keyId);
  }

  async #findIdle(uploadId: string, keyId: string | null): Promise<StoredUpload> {
    const found = await this.#find(uploadId, keyId);
    if (found.taken) throw inUse();
    return found;
  }

  /** Bytes of each owner. */
  taken(): Map<string | null, number> {
    const bytes = new Map<string | null, number>();
    for (const [id, owner] of this.#owners) {
      bytes.set(owner, (bytes.get(owner) ?? 0) + this.#parts.files.takenBy(id));
    }
    return bytes;
  }

  /** Throws `quota_exceeded`. */
  #refuseBeyond(keyId: string | null, bytes: number): void {
    const allowance = (this.#parts.allowances ?? NO_ALLOWANCES).of('uploads', keyId);
    if (allowance === null) return;
    const used = this.taken().get(keyId) ?? 0;
    refuseExcess(allowance, used, bytes, () => this.#parts.files.freeBytes);
  }

  #refuseWhereOff(): void {
    const { off } = this.#parts;
    if (off !== null) throw new LatticeError('not_found', off);
  }
}

/** Throws `validation_failed` for a name that cannot be one, `LeftOutFile` for a file that is not read. */
function refuseName(name: string): void {
  const refused = refusedName(name);
  if (refused === null) return;
  if (!refused.isName) throw new LeftOutFile(name, refused.kind, refused.detail);
  throw new LatticeError('validation_failed', refused.detail, {
    errors: [{ detail: refused.detail }],
  });
}

function plan(planned: readonly PlannedFile[], maxFileBytes: number) {
  const leftOut: LeftOutName[] = [];
  let bytes = 0;
  const leaveOut = (name: string, kind: string, detail = notRead(kind)): void => {
    leftOut.push({ name, kind, detail });
  };
  for (const { name, bytes: size } of planned) {
    const refused = refusedName(name);
    if (refused !== null) leaveOut(name, refused.kind, refused.detail);
    else if (size === 0) leaveOut(name, 'empty file');
    else if (size !== undefined && size > maxFileBytes) {
      leaveOut(name, 'too large', `It exceeds ${maxFileBytes} bytes.`);
    } else bytes += size ?? 0;
  }
  return { leftOut, bytes, taken: planned.length - leftOut.length };
}

/** A file that came after all is not left out. */
function leftOutOf(kinds: Record<string, string>, images: ReadonlySet<string>): LeftOut {
  return countKinds(
    Object.entries(kinds).flatMap(([name, kind]) => (images.has(name) ? [] : [kind])),
  );
}

/** Where a list continues: opaque to callers. */
function positionOf(parts: readonly unknown[]): UploadPosition | null {
  const [createdAt, uploadId] = parts;
  if (parts.length !== 2 || typeof createdAt !== 'number' || createdAt < 0) return null;
  if (typeof uploadId !== 'string' || !/^[\w-]+$/.test(uploadId)) return null;
  return { createdAt, uploadId };
}

function inUse(): LatticeError {
  return new LatticeError('upload_in_use', 'A job has these photos: they stay as they are.');
}
