/** Rows of `key_use`: what each API key has in the store. Triggers of the schema write them. */
import { excess, refuseExcess } from '../api/quotas.js';
import type { JobAllowances, StoreAllowance, StoreUse } from './job-records.js';
import type { Statements } from './statements.js';

/** Bytes of a job beside its texts: its rows, their indexes and its events. */
export const JOB_BYTES = 900;
/** Bytes of an image beside its path and its outcome. */
export const IMAGE_BYTES = 130;
/** Bytes that an outcome will take, as long as there is none: a key that has submitted much has used them already. */
export const OUTCOME_BYTES = 500;

export class UseReads {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** Use by the keys that have, or had, something. */
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
 * Throws `quota_exceeded` where the owner may not submit a job. Reads one row; all only of an owner beyond its share.
 */
export function refuseJob(statements: Statements, owner: string, allowed: JobAllowances): void {
  const { jobs, freeJobs, store } = allowed;
  if (jobs !== null) {
    refuseExcess(jobs, useOf(statements, owner).unfinished, 1, () => freeJobs);
  }
  if (store !== null) refuseBytes(statements, owner, store);
}

/**
 * Throws `quota_exceeded` where the owner may not have more that stays. What may go makes room by itself, so that it
 * counts only where a mark is the limit, or where the store is near its bound.
 */
export function refuseBytes(
  statements: Statements,
  owner: string,
  { allowance, whole, isNear }: StoreAllowance,
): void {
  const { bytes, staying } = useOf(statements, owner);
  if (isNear && bytes >= allowance.most) throw excess(allowance, bytes);
  const free = () => whole - allUse(statements).reduce((sum, use) => sum + use.staying, 0);
  refuseExcess(allowance, allowance.isMarked ? bytes : staying, 1, free);
}
