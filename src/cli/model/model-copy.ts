/** Copies of model files that need no other file: the weights that lie beside a model come inside. */
import { mkdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { LatticeError } from '../../api/errors.js';
import { readModel } from '../../native/core.js';
import { placeOf, writeFileTo } from '../output-file.js';
import { onUserPath, Refusal } from '../terminal.js';

/**
 * Stores the bytes that `read` makes of the file: whole or not at all, also when the machine stops in between; makes
 * the folder. Rejects with `UsageError` or `Refusal`.
 */
export async function copyModel(from: string, to: string, read = readModel): Promise<void> {
  const folder = dirname(to);
  await onUserPath(folder, 'write', mkdir(folder, { recursive: true }));
  const bytes = await read(from).catch((error: unknown) => {
    throw unusable(from, error);
  });
  const place = await placeOf(to);
  if (place.kind !== 'standard output') await writeFileTo(place, [bytes]);
}

/** The error of a model file that the core refuses, as one of the command; another error as it is. */
export function unusable(path: string, error: unknown): unknown {
  if (!(error instanceof LatticeError)) return error;
  return new Refusal(`${basename(path)} cannot be used: ${error.message}`);
}
