/** Where a list of jobs continues: opaque to callers, the number of a job inside. */
import { LatticeError } from '../api/errors.js';

export function encodeCursor(jobNumber: number): string {
  return Buffer.from(`before:${jobNumber}`).toString('base64url');
}

/** Throws `validation_failed` on text that `encodeCursor` did not make. */
export function decodeCursor(cursor: string): number {
  const match = /^before:([1-9]\d{0,15})$/.exec(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (match?.[1] === undefined || encodeCursor(Number(match[1])) !== cursor) {
    const detail = 'The cursor is not one that a list answered.';
    throw new LatticeError('validation_failed', detail, { errors: [{ detail }] });
  }
  return Number(match[1]);
}
