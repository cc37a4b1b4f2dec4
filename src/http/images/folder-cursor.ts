/** Where a folder's list continues: opaque to callers, the last name of the page before inside. */
import { validationFailed } from '../validation.js';

const PREFIX = 'after:';

export function encodeCursor(name: string): string {
  return Buffer.from(`${PREFIX}${name}`).toString('base64url');
}

/** Throws `validation_failed` on text that `encodeCursor` did not make. */
export function decodeCursor(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const name = text.slice(PREFIX.length);
  if (!text.startsWith(PREFIX) || encodeCursor(name) !== cursor) {
    throw validationFailed([{ detail: 'The cursor is not one that a list answered.' }]);
  }
  return name;
}
