/** The store of a service, in its data folder. */
import type { Logger } from '../base/logger-port.js';
import type { ReleaseList } from '../base/releases.js';
import type { Config } from '../settings/config.js';
import { makeDataFolder } from '../settings/setting-folders.js';
import { openStore, type ServiceStore } from './service-store.js';

export interface StoreParts {
  config: Pick<Config, 'dataDir' | 'keptCounts'>;
  logger: Logger;
  releases: ReleaseList;
  /** The store can no longer be written: the process should end. */
  onStoreLost: () => void;
}

/** Rejects with `ConfigError` where the folder cannot be written, and as `openStore`. */
export async function openServiceStore(parts: StoreParts): Promise<ServiceStore> {
  const { config, logger, releases, onStoreLost } = parts;
  makeDataFolder(config.dataDir);
  const { dataDir, keptCounts } = config;
  const onLost = (reason: string): void => {
    logger.error({ reason }, 'the job store can no longer be written: the process ends');
    onStoreLost();
  };
  const store = await openStore(dataDir, { keptCounts, onLost });
  releases.add('job store', () => store.close());
  return store;
}
