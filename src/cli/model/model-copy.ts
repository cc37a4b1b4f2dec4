/** Copies of model files that need no other file: the weights that lie beside a model come inside. */
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { LatticeError } from '../../api/errors.js';
import { isPathError, pathFault } from '../../base/path-fault.js';
import { readModel } from '../../native/core.js';
import { onUserPath, UsageError } from '../terminal.js';

/** Whole or not at all, also when the machine stops in between; makes the folder. Rejects with `UsageError`. */
export async function copyModel(from: string, to: string): Promise<void> {
  const folder = resolve(to, '..');
  await onUserPath(folder, 'write', mkdir(folder, { recursive: true }));
  const partial = join(folder, `.${basename(to)}.${process.pid}`);
  try {
    await writeFile(partial, await readModel(from));
    const file = await open(partial, 'r');
    await file.sync().finally(() => file.close());
    await rename(partial, to);
  } catch (error) {
    throw isPathError(error)
      ? new UsageError(pathFault(error, to, 'write'))
      : unusable(from, error);
  } finally {
    await rm(partial, { force: true });
  }
}

/** The error of a model file that the core refuses, as one of the command; another error as it is. */
export function unusable(path: string, error: unknown): unknown {
  if (!(error instanceof LatticeError)) return error;
  return new UsageError(`${basename(path)} cannot be used: ${error.message}`);
}
