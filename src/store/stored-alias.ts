/** An alias as the job store has it. The store's thread loads this file, so it has no schema. */
import { LatticeError } from '../api/errors.js';
import type { AliasContent } from '../api/model-alias.js';

export interface StoredAlias extends AliasContent {
  name: string;
  /** From 1; grows with every change, also over a deletion. */
  version: number;
  /** Of this version, Unix seconds. */
  storedAt: number;
  /** Version that a rollback goes back to; null: there is none. */
  before: number | null;
}

export interface PutAlias {
  alias: StoredAlias;
  /** There was none of this name. */
  created: boolean;
}

export function aliasNotFound(name: string): LatticeError {
  return new LatticeError(
    'alias_not_found',
    `There is no alias '${name}', or not in this version.`,
  );
}
