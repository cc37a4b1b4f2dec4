/** SQLite's errors as errors of the service. */
import { LatticeError, type ErrorCode, type ErrorItem } from '../api/errors.js';

/** A `LatticeError` as it crosses threads. */
export interface StoreFailure {
  code: ErrorCode;
  detail: string;
  errors?: ErrorItem[] | undefined;
  retryAfterS?: number | undefined;
  /** The text of the fault beneath, for the log only. */
  reason?: string;
}

// Primary result codes (the low byte of an extended code), https://www.sqlite.org/rescode.html
const BUSY = 5;
const NO_MEMORY = 7;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

const STORAGE_CODES = new Set([
  BUSY,
  NO_MEMORY,
  READ_ONLY,
  IO_ERROR,
  CORRUPT,
  FULL,
  CANNOT_OPEN,
  NOT_A_DATABASE,
]);

/** An extended code: the -shm file cannot grow, because the disk is full. */
const IO_ERROR_SHM_SIZE = IO_ERROR | (19 << 8);

/** `errcode` is the primary code in errors of statements, the extended one in those of `exec`. */
function extendedCode(thrown: unknown): number | null {
  if (!(thrown instanceof Error) || !('sqliteExtendedCode' in thrown)) return null;
  return typeof thrown.sqliteExtendedCode === 'number' ? thrown.sqliteExtendedCode : null;
}

function primaryCode(thrown: unknown): number | null {
  const code = extendedCode(thrown);
  return code === null ? null : code & 0xff;
}

/** The medium is at fault, not the statement: nothing may be acknowledged. */
export function isStorageError(thrown: unknown): boolean {
  const code = primaryCode(thrown);
  return code !== null && STORAGE_CODES.has(code);
}

/**
 * After a failed sync the kernel may have dropped the pages, and a damaged page spreads when written on:
 * no later write may be trusted in this process.
 */
export function isLasting(thrown: unknown): boolean {
  const code = primaryCode(thrown);
  return (code === IO_ERROR && !isFull(thrown)) || code === CORRUPT || code === NOT_A_DATABASE;
}

export function isFull(thrown: unknown): boolean {
  return primaryCode(thrown) === FULL || extendedCode(thrown) === IO_ERROR_SHM_SIZE;
}

export function isBusy(thrown: unknown): boolean {
  return primaryCode(thrown) === BUSY;
}

export function isDamaged(thrown: unknown): boolean {
  const code = primaryCode(thrown);
  return code === CORRUPT || code === NOT_A_DATABASE;
}

export function storageUnavailable(reason: string): StoreFailure {
  return {
    code: 'storage_unavailable',
    detail: 'The job store cannot be written at the moment; nothing was stored.',
    reason,
  };
}

export function toFailure(thrown: unknown): StoreFailure {
  if (thrown instanceof LatticeError) {
    const { code, message: detail, errors, retryAfterS } = thrown;
    return { code, detail, errors, retryAfterS };
  }
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  if (isStorageError(thrown)) return storageUnavailable(reason);
  const { stack } = thrown instanceof Error ? thrown : new Error(reason);
  return { code: 'internal_error', detail: 'An internal error occurred.', reason: stack ?? reason };
}

export function fromFailure({ code, detail, reason, ...options }: StoreFailure): LatticeError {
  return new LatticeError(code, detail, { cause: reason, ...options });
}
