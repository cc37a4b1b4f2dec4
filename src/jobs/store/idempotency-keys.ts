/** Which job was submitted with an idempotency key. Equal keys of different owners are different keys. */
import type { Idempotency } from '../job.js';
import type { StoredJob } from '../job-records.js';
import { JOB_COLUMNS, toStoredJob, type JobRow } from './job-row.js';
import type { Statements } from './statements.js';

/** Null: the key is free. */
export function findByKey(
  statements: Statements,
  keyId: string | null,
  { key, fingerprint }: Idempotency,
): { job: StoredJob; sameBody: boolean } | null {
  const known = statements.get(
    'SELECT fingerprint, job_id FROM idempotency WHERE key = ?',
    ownedKey(keyId, key),
  ) as { fingerprint: string; job_id: string } | undefined;
  if (known === undefined) return null;
  const sql = `SELECT ${JOB_COLUMNS} FROM jobs WHERE job_id = ?`;
  const row = statements.get(sql, known.job_id) as JobRow | undefined;
  // The job has outlived its retention: the key is free again.
  if (row === undefined) return null;
  return { job: toStoredJob(row), sameBody: known.fingerprint === fingerprint };
}

export function rememberKey(
  statements: Statements,
  keyId: string | null,
  { key, fingerprint }: Idempotency,
  jobId: string,
  at: number,
): void {
  statements.run(
    'INSERT OR REPLACE INTO idempotency (key, fingerprint, job_id, created_at) VALUES (?, ?, ?, ?)',
    ownedKey(keyId, key),
    fingerprint,
    jobId,
    at,
  );
}

/** JSON keeps (a, bc) and (ab, c) apart. */
function ownedKey(keyId: string | null, key: string): string {
  return JSON.stringify([keyId, key]);
}
