/** Rows of `key_use`: what each API key has in the store. Triggers of the schema write them. */
import { excess, refuseExcess } from './allowances.js';
import type { JobAllowances, StoreAllowance, StoreUse } from './job-records.js';
import type { Statements } from './statements.js';

/** Bytes of a job without its texts: its rows, their indexes and its events. */
export const JOB_BYTES = 900;
/** Bytes of an image without its path and its outcome. */
export const IMAGE_BYTES = 130;
/** Bytes that are counted for an image until it has its outcome, so that submitting alone uses up the quota. */
export const OUTCOME_BYTES = 500;

export class UseReads {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** The use of every key that has, or had, something in the store. */
  storeUse(): StoreUse[] {
    return allUse(this.#statements);
  }
}

export function allUse(statements: Statements): StoreUse[] {
  const sql = 'SELECT owner, bytes, staying, unfinished FROM key_use ORDER BY owner';
  return statements.all(sql) as StoreUse[];
}

function useOf(statements: Statements, owner: string): StoreUse {
  const none = { owner, bytes: 0, staying: 0, unfinished: 0 };
  const sql = 'SELECT owner, bytes, staying, unfinished FROM key_use WHERE owner = ?';
  return (statements.get(sql, owner) as StoreUse | undefined) ?? none;
}

/**
 * Throws `quota_exceeded` where the owner may not submit a job. Reads the row of the owner, and the rows of all owners
 * only when this one is beyond its share.
 */
export function refuseJob(statements: Statements, owner: string, allowed: JobAllowances): void {
  const { jobs, freeJobs, store } = allowed;
  if (jobs !== null) {
    refuseExcess(jobs, useOf(statements, owner).unfinished, 1, () => freeJobs);
  }
  if (store !== null) refuseBytes(statements, owner, store);
}

/**
 * Throws `quota_exceeded` where the owner may not store more that stays. Jobs that may be removed make room by
 * themselves: they count only where the key file sets the limit, or where the store is near its bound.
 */
export function refuseBytes(
  statements: Statements,
  owner: string,
  { allowance, total, isNear }: StoreAllowance,
): void {
  const { bytes, staying } = useOf(statements, owner);
  if (isNear && bytes >= allowance.limit) throw excess(allowance, bytes);
  const free = () => total - allUse(statements).reduce((sum, use) => sum + use.staying, 0);
  refuseExcess(allowance, allowance.isExplicit ? bytes : staying, 1, free);
}
