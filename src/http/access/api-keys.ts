/** API keys: read from a file, stored as SHA-256 only, compared in constant time. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { ConfigError } from '../../settings/config.js';
import { pathFault } from '../../base/path-fault.js';
import type { AppContext } from '../app-env.js';
import { FailedKeys } from './failed-keys.js';

interface StoredKey {
  digest: Buffer;
  keyId: string;
  name: string;
}

const DIGEST = /^sha256:([0-9a-f]{64})$/i;

export class ApiKeys {
  readonly #keys: readonly StoredKey[];
  readonly #failed = new FailedKeys();

  private constructor(keys: readonly StoredKey[]) {
    this.#keys = keys;
  }

  /**
   * One key per line: the key or `sha256:HEX` of it, then an optional name after white space. Empty lines and lines
   * that start with `#` are ignored. Throws a `ConfigError` that contains no key.
   */
  static parse(text: string): ApiKeys {
    const keys: StoredKey[] = [];
    for (const [index, line] of text.split(/\r?\n/).entries()) {
      const [secret, name] = line.trim().split(/\s+/, 2);
      if (secret === undefined || secret === '' || secret.startsWith('#')) continue;
      if (secret.startsWith('sha256:') && !DIGEST.test(secret)) {
        throw new ConfigError(
          `API key file, line ${index + 1}: sha256: must be followed by 64 hex digits`,
        );
      }
      if (secret.length < 16) {
        throw new ConfigError(
          `API key file, line ${index + 1}: a key must have at least 16 characters`,
        );
      }
      const hex = DIGEST.exec(secret)?.[1];
      const digest = hex === undefined ? sha256(secret) : Buffer.from(hex, 'hex');
      const keyId = digest.toString('hex').slice(0, 16);
      keys.push({ digest, keyId, name: name ?? keyId.slice(0, 8) });
    }
    if (keys.length === 0) throw new ConfigError('API key file contains no key');
    return new ApiKeys(keys);
  }

  /** Throws `ConfigError` when the file cannot be read or used. */
  static readFile(path: string): ApiKeys {
    try {
      return ApiKeys.parse(readFileSync(path, 'utf8'));
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      throw new ConfigError(`API key file: ${pathFault(error, path, 'read')}`);
    }
  }

  /**
   * As `find`. An unknown key is answered late when its address has sent several before; a known one never waits.
   * Rejects with `rate_limited` when too many answers are waiting.
   */
  async owner(
    secret: string,
    address: string | undefined,
  ): Promise<{ keyId: string; name: string } | null> {
    const owner = this.find(secret);
    if (owner === null && address !== undefined) await this.#failed.delay(address);
    return owner;
  }

  /** The owner's id (first digits of the key's hash) and name, or null for an unknown key. */
  find(secret: string): { keyId: string; name: string } | null {
    const digest = sha256(secret);
    let found: StoredKey | null = null;
    // Every key is compared, so that the time taken reveals nothing.
    for (const key of this.#keys) if (timingSafeEqual(key.digest, digest)) found = key;
    return found === null ? null : { keyId: found.keyId, name: found.name };
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The key of a request: `Authorization: Bearer KEY` or `X-API-Key: KEY`. */
export function presentedKey(header: (name: string) => string | undefined): string | null {
  const bearer = /^Bearer +(\S+)\s*$/i.exec(header('authorization') ?? '')?.[1];
  return bearer ?? header('x-api-key')?.trim() ?? null;
}

/** Of the connection: behind a proxy it is the proxy's. Undefined for a request that came over none. */
export function clientAddress(c: AppContext): string | undefined {
  const bindings = c.env as { incoming?: IncomingMessage } | undefined;
  return bindings?.incoming?.socket.remoteAddress;
}
