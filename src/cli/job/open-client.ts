/** The client that a command of `lattice job` calls the service with. */
import { LatticeClient } from '../../client/lattice-client.js';
import { serviceAccess } from '../../settings/config.js';
import { UsageError } from '../terminal.js';

export interface AccessFlags {
  url?: string | undefined;
  apiKeyFile?: string | undefined;
  json?: boolean;
}

/** Throws `UsageError` for an address that is none, `ConfigError` for a key file that holds no key. */
export function openClient(flags: AccessFlags): LatticeClient {
  try {
    return new LatticeClient(serviceAccess(flags));
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

/** The command that follows the job, for a hint. */
export function watchCommand(jobId: string, { url, apiKeyFile }: AccessFlags): string {
  const access = [
    ...(url === undefined ? [] : ['--url', url]),
    ...(apiKeyFile === undefined ? [] : ['--api-key-file', apiKeyFile]),
  ];
  return ['lattice job watch', jobId, ...access].join(' ');
}
