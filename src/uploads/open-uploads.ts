/** Opens the uploads of a data folder, or says why none are taken. */
import { existsSync, realpathSync } from 'node:fs';
import { relative } from 'node:path';
import { NO_ALLOWANCES, type Allowances } from '../store/allowances.js';
import type { Logger } from '../base/logger-port.js';
import type { Config } from '../settings/config.js';
import type { ServiceStore } from '../store/service-store.js';
import { UploadedFiles } from './uploaded-files.js';
import { Uploads } from './uploads.js';

const MIB = 1024 * 1024;

export interface UploadParts {
  config: Pick<
    Config,
    'dataDir' | 'imageRoots' | 'maxFileBytes' | 'maxImagesPerJob' | 'uploadsMaxMb'
  >;
  store: ServiceStore;
  /** The shares of API keys; without it a key takes all that there is. */
  allowances?: Allowances;
  logger: Logger;
}

export async function openUploads(parts: UploadParts): Promise<Uploads> {
  const { config, store, allowances = NO_ALLOWANCES, logger } = parts;
  const { dataDir, imageRoots, maxFileBytes } = config;
  const maxBytes = config.uploadsMaxMb * MIB;
  const limits = { maxBytes, maxFileBytes, maxFiles: config.maxImagesPerJob };
  const files = await UploadedFiles.open(dataDir, limits);
  const folder = realpathSync(dataDir);
  const isShown = imageRoots.some((root) => {
    const path = relative(existsSync(root) ? realpathSync(root) : root, folder);
    return path !== '..' && !path.startsWith('../');
  });
  let off: string | null = null;
  if (maxBytes === 0) {
    off = 'This service takes no photos for jobs (LATTICE_UPLOADS_MAX_MB=0).';
  } else if (isShown) {
    off = 'This service takes no photos for jobs: its data folder lies beneath an image folder.';
    logger.warn(
      { dataDir },
      'no photos are taken for jobs: the data folder lies beneath an image folder, where every key could read them',
    );
  }
  const owners = new Map(await store.uploadOwners());
  return new Uploads({ store, files, owners, allowances, off, logger });
}
