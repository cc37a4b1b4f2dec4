/** Rows of `uploads`: folders of photos that were sent for a job, and whose they are. A job that names one keeps it. */
import { LatticeError } from '../../api/errors.js';
import type { Statements } from './statements.js';

export interface StoredUpload {
  uploadId: string;
  /** Null without authentication. */
  owner: string | null;
  /** A job had it, or has it. */
  taken: boolean;
  /** Name of each file that was left out, and its kind. */
  leftOut: Record<string, string>;
}

const KEPT = 'EXISTS (SELECT 1 FROM jobs WHERE jobs.upload = uploads.upload_id)';

export class UploadReads {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** Any upload where `keyId` is null, else one of this owner. Throws `upload_not_found`. */
  upload(uploadId: string, keyId: string | null): StoredUpload {
    return findUpload(this.#statements, uploadId, keyId);
  }

  /** Those that no job has. */
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

  addUpload(uploadId: string, owner: string | null, leftOut: Record<string, string>): void {
    this.#statements.run(
      'INSERT INTO uploads (upload_id, owner, left_out) VALUES (?, ?, ?)',
      uploadId,
      owner,
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

/** As `UploadReads.upload`. */
export function findUpload(
  statements: Statements,
  uploadId: string,
  keyId: string | null,
): StoredUpload {
  const row = statements.get(
    'SELECT upload_id AS uploadId, owner, taken, left_out AS leftOut FROM uploads WHERE upload_id = ?',
    uploadId,
  ) as { uploadId: string; owner: string | null; taken: number; leftOut: string } | undefined;
  if (row === undefined || (keyId !== null && row.owner !== keyId)) throw uploadNotFound();
  const leftOut = JSON.parse(row.leftOut) as Record<string, string>;
  return { ...row, taken: row.taken === 1, leftOut };
}

export function uploadNotFound(): LatticeError {
  const detail = 'There is no such upload. One that no job takes is removed after an hour.';
  return new LatticeError('upload_not_found', detail);
}
