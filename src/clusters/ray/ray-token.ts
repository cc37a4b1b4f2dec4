/** The token of a Ray cluster that runs with `RAY_AUTH_MODE=token`. */
import { readFile } from 'node:fs/promises';
import { isPathError } from '../../base/path-fault.js';

/** Null without a file. Rejects with a sentence when the file cannot be read or holds no token. */
export async function readRayToken(file: string): Promise<string | null> {
  if (file === '') return null;
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new Error(
      `LATTICE_RAY_TOKEN_FILE cannot be read: ${isPathError(error) ? error.code : String(error)}`,
    );
  });
  const token = text.trim();
  // Anything else cannot travel in a header.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new Error('LATTICE_RAY_TOKEN_FILE must hold one token and nothing else');
  }
  return token;
}
