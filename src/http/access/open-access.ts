/** Opens the access of callers: who may call the service, and how much each key may take. */
import { Allowances } from '../../store/allowances.js';
import type { Logger } from '../../base/logger-port.js';
import { ConfigError, isLoopback, type Config } from '../../settings/config.js';
import { MOST_WATCHES } from '../../store/watched.js';
import { ApiKeys } from './api-keys.js';

const MIB = 1024 * 1024;

export interface Access {
  /** Null: no authentication. */
  apiKeys: ApiKeys | null;
  allowances: Allowances;
  /** Reads the key file again; open event streams stay open until their client leaves. */
  readAgain(): void;
}

/** Throws `ConfigError` where the keys cannot be read, or anybody could call the service by accident. */
export function openAccess(config: Config, logger: Logger, stopping: AbortSignal): Access {
  const apiKeys = config.apiKeysFile === '' ? null : ApiKeys.readFile(config.apiKeysFile, stopping);
  refuseOpenAddress(config, apiKeys);
  warnOfEqualKeys(config, logger, apiKeys);
  const allowances = new Allowances(apiKeys === null ? null : () => apiKeys.marks, {
    store: config.storeMaxMb * MIB,
    uploads: config.uploadsMaxMb * MIB,
    jobs: config.maxQueuedJobs,
    watches: MOST_WATCHES,
    requests: 0,
  });
  const readAgain = () => {
    try {
      apiKeys?.readAgain(config.apiKeysFile);
      warnOfEqualKeys(config, logger, apiKeys);
    } catch (error) {
      const fault = error instanceof Error ? error.message : String(error);
      logger.error({ fault }, 'the API keys cannot be read again; those there are stay');
    }
  };
  return { apiKeys, allowances, readAgain };
}

/** Warns of keys that can harm each other, because the key file or the settings set no bounds. */
function warnOfEqualKeys(config: Config, logger: Logger, apiKeys: ApiKeys | null): void {
  if (apiKeys === null || apiKeys.marks.size === 1) return;
  const keys = apiKeys.marks.size;
  if (!apiKeys.hasAdmin) {
    logger.warn(
      { keys },
      'no API key has the mark admin: every key may change models and aliases for all; write [admin] behind the keys ' +
        'that may',
    );
  }
  if (config.storeMaxMb === 0) {
    logger.warn(
      { keys },
      'LATTICE_STORE_MAX_MB is 0: the job store has no bound of which keys have shares, and one key can fill the disk',
    );
  }
}

/** Fails closed: a service without keys must not be reachable by accident. */
function refuseOpenAddress(config: Config, apiKeys: ApiKeys | null): void {
  if (apiKeys !== null || config.insecure) return;
  if (config.env === 'production') {
    throw new ConfigError(
      'LATTICE_ENV=production needs LATTICE_API_KEYS_FILE (or LATTICE_INSECURE=1).',
    );
  }
  if (!isLoopback(config.host)) {
    throw new ConfigError(
      `LATTICE_HOST=${config.host} is reachable from other machines and no API keys are set. ` +
        'Set LATTICE_API_KEYS_FILE, or LATTICE_INSECURE=1 where the network is trusted.',
    );
  }
}
