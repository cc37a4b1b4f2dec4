import { loadConfig } from '../../settings/config.js';

/** That of the flag, else the service's own setting; '' where there is none. */
export function webhookSecret(given: string | undefined): string {
  return loadConfig(given === undefined ? {} : { webhookSecret: given }).webhookSecret;
}
