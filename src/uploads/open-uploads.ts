/** Opens the uploads of a data folder, or says why none are taken. */
import { existsSync, realpathSync } from 'node:fs';
import { relative } from 'node:path';
import { NO_ALLOWANCES, type Allowances } from '../api/quotas.js';
import type { Logger } from '../base/logger-port.js';
import type { ServiceStore } from '../store/service-store.js';
import { UploadedFiles, type UploadLimits } from './uploaded-files.js';
import { Uploads } from './uploads.js';

export interface UploadsOptions {
  dataDir: string;
  /** Absent: no photos are taken. */
  limits?: UploadLimits | undefined;
  imageRoots?: readonly string[];
  /** Limits per API key; without them a key may use all the room. */
  allowances?: Allowances;
  logger: Logger;
}

const NO_UPLOADS: UploadLimits = { maxBytes: 0, maxFileBytes: Infinity, maxFiles: 0 };

export async function openUploads(store: ServiceStore, options: UploadsOptions): Promise<Uploads> {
  const { dataDir, limits = NO_UPLOADS, imageRoots = [], logger } = options;
  const files = await UploadedFiles.open(dataDir, limits);
  const folder = realpathSync(dataDir);
  const isShown = imageRoots.some((root) => {
    const path = relative(existsSync(root) ? realpathSync(root) : root, folder);
    return path !== '..' && !path.startsWith('../');
  });
  let off: string | null = null;
  if (limits.maxBytes === 0) {
    off = 'This service takes no photos for jobs (LATTICE_UPLOADS_MAX_MB=0).';
  } else if (isShown) {
    off = 'This service takes no photos for jobs: its data folder lies beneath an image folder.';
    logger.warn(
      { dataDir },
      'no photos are taken for jobs: the data folder lies beneath an image folder, where every key could read them',
    );
  }
  const owners = new Map(await store.uploadOwners());
  const { allowances = NO_ALLOWANCES } = options;
  return new Uploads({ store, files, owners, allowances, off, logger });
}
