/** Rows of `uploads`: folders of photos that were sent for a job, and whose they are. A job that names one keeps it. */
import { LatticeError } from '../api/errors.js';
import type { Statements } from './statements.js';

export interface StoredUpload {
  uploadId: string;
  /** Null without authentication. */
  owner: string | null;
  /** Unix seconds; null for one of an earlier release. */
  createdAt: number | null;
  /** A job had it, or has it. */
  taken: boolean;
  /** A job has it. */
  kept: boolean;
  /** Name of each file that was left out, and its kind. */
  leftOut: Record<string, string>;
}

/** The last upload of a page: the next page begins behind it. */
export interface UploadPosition {
  createdAt: number;
  uploadId: string;
}

interface UploadRow extends Omit<StoredUpload, 'taken' | 'kept' | 'leftOut'> {
  taken: number;
  kept: number;
  leftOut: string;
}

const KEPT = 'EXISTS (SELECT 1 FROM jobs WHERE jobs.upload = uploads.upload_id)';
const COLUMNS =
  'upload_id AS uploadId, owner, created_at AS createdAt, taken, left_out AS leftOut, ' +
  `${KEPT} AS kept`;

export class UploadReads {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** Any upload where `keyId` is null, else one of this owner. Throws `upload_not_found`. */
  upload(uploadId: string, keyId: string | null): StoredUpload {
    return findUpload(this.#statements, uploadId, keyId);
  }

  /** Newest first, of every owner where `keyId` is null. */
  uploads(keyId: string | null, limit: number, after: UploadPosition | null): StoredUpload[] {
    const rows = this.#statements.all(
      `SELECT ${COLUMNS} FROM uploads
       WHERE (?1 IS NULL OR owner = ?1)
         AND (?2 IS NULL OR (coalesce(created_at, 0), upload_id) < (?2, ?3))
       ORDER BY coalesce(created_at, 0) DESC, upload_id DESC LIMIT ?4`,
      keyId,
      after?.createdAt ?? null,
      after?.uploadId ?? null,
      limit,
    ) as UploadRow[];
    return rows.map(uploadOf);
  }

  /** The uploads that no job has. */
  idleUploads(): { uploadId: string; owner: string | null; taken: boolean }[] {
    const rows = this.#statements.all(
      `SELECT upload_id AS uploadId, owner, taken FROM uploads WHERE NOT ${KEPT}`,
    ) as { uploadId: string; owner: string | null; taken: number }[];
    return rows.map((row) => ({ ...row, taken: row.taken === 1 }));
  }

  uploadOwners(): [uploadId: string, owner: string | null][] {
    const rows = this.#statements.all('SELECT upload_id AS uploadId, owner FROM uploads') as {
      uploadId: string;
      owner: string | null;
    }[];
    return rows.map(({ uploadId, owner }) => [uploadId, owner]);
  }

  uploadIds(): string[] {
    const rows = this.#statements.all('SELECT upload_id AS uploadId FROM uploads') as {
      uploadId: string;
    }[];
    return rows.map(({ uploadId }) => uploadId);
  }
}

export class UploadWrites {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  addUpload({
    uploadId,
    owner,
    createdAt,
    leftOut,
  }: Pick<StoredUpload, 'uploadId' | 'owner' | 'createdAt' | 'leftOut'>): void {
    this.#statements.run(
      'INSERT INTO uploads (upload_id, owner, created_at, left_out) VALUES (?, ?, ?, ?)',
      uploadId,
      owner,
      createdAt,
      JSON.stringify(leftOut),
    );
  }

  leaveOut(uploadId: string, name: string, kind: string): void {
    this.#statements.run(
      'UPDATE uploads SET left_out = json_patch(left_out, ?) WHERE upload_id = ?',
      JSON.stringify({ [name]: kind }),
      uploadId,
    );
  }

  /** Removes the rows of those that no job has; gives these. */
  removeUploads(uploadIds: readonly string[]): string[] {
    return uploadIds.filter(
      (id) =>
        this.#statements.run(`DELETE FROM uploads WHERE upload_id = ? AND NOT ${KEPT}`, id) === 1,
    );
  }
}

/** Does what `UploadReads.upload` does, for code that has the statements. */
export function findUpload(
  statements: Statements,
  uploadId: string,
  keyId: string | null,
): StoredUpload {
  const row = statements.get(`SELECT ${COLUMNS} FROM uploads WHERE upload_id = ?`, uploadId) as
    UploadRow | undefined;
  if (row === undefined || (keyId !== null && row.owner !== keyId)) throw uploadNotFound();
  return uploadOf(row);
}

function uploadOf(row: UploadRow): StoredUpload {
  const leftOut = JSON.parse(row.leftOut) as Record<string, string>;
  return { ...row, taken: row.taken === 1, kept: row.kept === 1, leftOut };
}

export function uploadNotFound(): LatticeError {
  const detail = 'There is no such upload. One that no job takes is removed after an hour.';
  return new LatticeError('upload_not_found', detail);
}
