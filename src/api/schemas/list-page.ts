/** Pages of a list, and the cursors that name the position behind which the next one begins. */
import { LatticeError } from '../errors.js';

type CursorParts = readonly (string | number | null)[];

/** The first `limit` of what was found; one more than that tells that another page follows. */
export function pageOf<T>(
  found: readonly T[],
  limit: number,
  cursorOf: (last: T) => string,
): { shown: T[]; nextCursor: string | null } {
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  const more = found.length > limit && last !== undefined;
  return { shown, nextCursor: more ? cursorOf(last) : null };
}

export function writeCursor(parts: CursorParts): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/**
 * The position that a cursor names; `positionOf` gives null for parts that name none. Throws `validation_failed` on
 * text that `writeCursor` did not make for `list`.
 */
export function readCursor<Position>(
  cursor: string,
  list: string,
  positionOf: (parts: readonly unknown[]) => Position | null,
): Position {
  const parts = partsOf(cursor);
  const position =
    parts !== null && writeCursor(parts as CursorParts) === cursor ? positionOf(parts) : null;
  if (position !== null) return position;
  const detail = `The cursor is not one that ${list} answered.`;
  throw new LatticeError('validation_failed', detail, { errors: [{ detail }] });
}

function partsOf(cursor: string): readonly unknown[] | null {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(parts) ? (parts as unknown[]) : null;
  } catch {
    return null;
  }
}
