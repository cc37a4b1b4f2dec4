/** Folders that settings name: what is wrong with them is told at the start. */
import { accessSync, constants, statSync } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import type { Logger } from 'pino';
import { ConfigError, defaultModelsDir } from './config.js';
import { makeFolder } from '../base/make-folder.js';
import { isPathError, pathFault } from '../base/path-fault.js';

/** All that lies in it is this process's own, so a folder that cannot be written is a wrong setting. */
export function makeDataFolder(dataDir: string): void {
  try {
    makeFolder(dataDir);
    if (!statSync(dataDir).isDirectory()) {
      throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' });
    }
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new ConfigError(
      `LATTICE_DATA_DIR: the folder ${dataDir} cannot be made or written. ${pathFault(error, dataDir, 'write')}`,
    );
  }
}

/** Why the models folder cannot be read; null where it can, and where the default one is not there yet. */
export async function modelsFolderFault(modelsDir: string): Promise<Error | null> {
  try {
    await readdir(modelsDir);
    await access(modelsDir, constants.X_OK);
    return null;
  } catch (error) {
    const isUnused =
      isPathError(error) && error.code === 'ENOENT' && modelsDir === defaultModelsDir();
    return isUnused ? null : (error as Error);
  }
}

/**
 * Logs a warning when the models folder cannot be read. No reason to refuse the start: the bundled models serve, and
 * the folder may be mounted later. Never rejects; the start need not wait for a volume that hangs.
 */
export async function warnOfModelsFolder(
  modelsDir: string,
  logger: Pick<Logger, 'warn'>,
): Promise<void> {
  const fault = await modelsFolderFault(modelsDir);
  if (fault === null) return;
  logger.warn(
    { modelsDir, reason: String(fault) },
    'the models folder cannot be read, so only the bundled models are served: ' +
      'correct LATTICE_MODELS_DIR, or make or mount the folder readable for this user',
  );
}
