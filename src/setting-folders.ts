/** Folders that settings name: what is wrong with them is told at the start. */
import { accessSync, constants, statSync } from 'node:fs';
import { ConfigError } from './config.js';
import { makeFolder } from './make-folder.js';

/** All that lies in it is this process's own, so a folder that cannot be written is a wrong setting. */
export function makeDataFolder(dataDir: string): void {
  try {
    makeFolder(dataDir);
    if (!statSync(dataDir).isDirectory()) throw new Error('not a folder');
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new ConfigError(
      `LATTICE_DATA_DIR: the folder ${dataDir} cannot be made or written: ${String(error)}`,
    );
  }
}
