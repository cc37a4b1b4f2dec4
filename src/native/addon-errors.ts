/** Errors of the addon, as errors of the table. */
import { LatticeError, type ErrorCode } from '../api/errors.js';
import { NATIVE_CODES } from './contract.js';

/** Errors of the addon carry a code of the table; misuse (a TypeError) has none and stays as it is. */
function toCoreError(error: unknown): unknown {
  const code = (error as { code?: unknown }).code;
  const known = NATIVE_CODES.find((each) => each === code);
  if (!(error instanceof Error) || known === undefined || known === 'ok') return error;
  return new LatticeError(known satisfies ErrorCode, error.message, { cause: error });
}

/** For the errors of a promise of the addon. */
export function rethrow(error: unknown): never {
  throw toCoreError(error);
}

/** For the errors of a call of the addon. */
export function translated<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    return rethrow(error);
  }
}

/** The addon names image folders by position, since some messages go to callers; this one goes to the operator. */
export function namingRoot(error: unknown, roots: readonly string[]): unknown {
  if (!(error instanceof LatticeError) || error.code !== 'image_not_found') return error;
  const named = error.message.replace(/folder (\d+) of \d+/, (position, number) => {
    return `folder ${roots[Number(number) - 1] ?? position}`;
  });
  return new LatticeError(error.code, named, { cause: error });
}
