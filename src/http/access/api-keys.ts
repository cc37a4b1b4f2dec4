/** API keys: read from a file, stored as SHA-256 only, compared in constant time. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { LatticeError } from '../../api/errors.js';
import { ConfigError } from '../../settings/config.js';
import { pathFault } from '../../base/path-fault.js';
import { QUOTA_NAMES, QUOTAS } from '../../api/quotas.js';
import type { KeyLimits } from '../../store/allowances.js';
import type { AppContext } from '../app-env.js';
import { FailedKeys } from './failed-keys.js';
import { RequestRates } from './request-rates.js';
import { readMarks, type KeyRights } from './key-marks.js';

export const METRICS_PATH = '/metrics';

const DIGEST = /^sha256:([0-9a-f]{64})$/i;

/** A row of the key file. */
interface KeyRow extends KeyRights {
  /** SHA-256 of the key. */
  digest: Buffer;
  /** The first digits of the hash, which name the owner of what the key makes. */
  id: string;
  /** Name for people; may be empty. */
  name: string;
}

export class ApiKeys {
  #keys: readonly KeyRow[];
  /** Marks of the keys that may take something, by owner. */
  #marks: ReadonlyMap<string, KeyLimits>;
  readonly #failed: FailedKeys;
  readonly #rates = new RequestRates();

  private constructor(keys: readonly KeyRow[], stopping: AbortSignal | undefined) {
    this.#keys = keys;
    this.#marks = marksOf(keys);
    this.#failed = new FailedKeys(stopping);
  }

  /**
   * Reads one key per line: the key or `sha256:HEX` of it, then white space, its marks in brackets and a name for
   * people. Empty lines and lines that start with `#` are ignored. Throws a `ConfigError` that contains no key. Once
   * `stopping` is aborted, unknown keys are answered at once.
   */
  static parse(text: string, stopping?: AbortSignal): ApiKeys {
    const keys = text.split(/\r?\n/).flatMap((line, index) => {
      try {
        return readRow(line.trim());
      } catch (error) {
        const fault = error instanceof Error ? error.message : String(error);
        throw new ConfigError(`API key file, line ${index + 1}: ${fault}`);
      }
    });
    if (keys.length === 0) throw new ConfigError('API key file contains no key');
    refuseOverfull(keys);
    return new ApiKeys(keys, stopping);
  }

  /** Throws `ConfigError` when the file cannot be read or used. */
  static readFile(path: string, stopping?: AbortSignal): ApiKeys {
    try {
      return ApiKeys.parse(readFileSync(path, 'utf8'), stopping);
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      throw new ConfigError(`API key file: ${pathFault(error, path, 'read')}`);
    }
  }

  /**
   * The keys of the file as it is now. Throws `ConfigError` when it cannot be read or used, and keeps those there are.
   */
  readAgain(path: string): void {
    this.#keys = ApiKeys.readFile(path).#keys;
    this.#marks = marksOf(this.#keys);
  }

  /**
   * Finds the owner of a key and counts the request. An unknown key is answered late when its address has sent several
   * before; a known one never waits. Rejects with `rate_limited` when too many answers are waiting, and with the error
   * of `RequestRates.count`.
   */
  async owner(secret: string, address: string | undefined): Promise<string | null> {
    const owner = this.find(secret);
    if (owner !== null) this.count(owner);
    else if (address !== undefined) await this.#failed.delay(address);
    return owner;
  }

  /** Counts a request of this owner. Throws `quota_exceeded` where its mark allows no more at the moment. */
  count(owner: string): void {
    this.#rates.count(owner, this.#marks.get(owner)?.requests);
  }

  /** Requests of the owner in the last whole second. */
  requestsPerSecond(owner: string): number {
    return this.#rates.of(owner);
  }

  /** The owner's id, which is the first digits of the key's hash, or null for an unknown key. */
  find(secret: string): string | null {
    const digest = sha256(secret);
    let found: KeyRow | null = null;
    // Every key is compared, so that the time taken reveals nothing.
    for (const key of this.#keys) if (timingSafeEqual(key.digest, digest)) found = key;
    return found?.id ?? null;
  }

  /** Marks of the keys that may take something, in the order of the file. The same map until the file is read again. */
  get marks(): ReadonlyMap<string, KeyLimits> {
    return this.#marks;
  }

  /** The name for people; the id if the key has no name. */
  nameOf(owner: string): string {
    const { name = '' } = this.#row(owner) ?? {};
    return name === '' ? owner : name;
  }

  /** False: no key of the file has the mark `admin`, and every key may then do what the mark allows. */
  get hasAdmin(): boolean {
    return this.#keys.some(({ isAdmin }) => isAdmin);
  }

  /** May this key change what all keys have, and see what all keys use? */
  isAdmin(owner: string): boolean {
    return !this.hasAdmin || this.#row(owner)?.isAdmin === true;
  }

  /** May it read the metrics and nothing else? */
  isForMetrics(owner: string): boolean {
    return this.#row(owner)?.isForMetrics === true;
  }

  #row(owner: string): KeyRow | undefined {
    return this.#keys.find(({ id }) => id === owner);
  }
}

/** Marks that promise more than there is could not be kept. */
function refuseOverfull(keys: readonly KeyRow[]): void {
  for (const quota of QUOTA_NAMES) {
    const sum = keys.reduce((total, { quotas }) => total + (quotas[quota] ?? 0), 0);
    if (QUOTAS[quota].kind === 'number' || sum <= 1 + 1e-9) continue;
    const percent = Math.round(sum * 100);
    throw new ConfigError(
      `API key file: the marks '${quota}' are ${percent}% together, and at most 100% can be given`,
    );
  }
}

function marksOf(keys: readonly KeyRow[]): ReadonlyMap<string, KeyLimits> {
  const taking = keys.filter(({ isForMetrics }) => !isForMetrics);
  return new Map(taking.map(({ id, quotas }) => [id, quotas]));
}

/** Reads a row: none for an empty line and a comment. Throws an `Error` that contains no key. */
function readRow(line: string): KeyRow[] {
  const [secret = ''] = line.split(/\s+/, 1);
  if (secret === '' || secret.startsWith('#')) return [];
  if (secret.startsWith('sha256:') && !DIGEST.test(secret)) {
    throw new Error('sha256: must be followed by 64 hex digits');
  }
  if (secret.length < 16) throw new Error('a key must have at least 16 characters');
  const { rights, name } = readMarks(line.slice(secret.length).trim());
  const hex = DIGEST.exec(secret)?.[1];
  const digest = hex === undefined ? sha256(secret) : Buffer.from(hex, 'hex');
  return [{ digest, id: digest.toString('hex').slice(0, 16), name, ...rights }];
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The key of a request: `Authorization: Bearer KEY` or `X-API-Key: KEY`. */
export function presentedKey(c: AppContext): string | undefined {
  const bearer = /^Bearer +(\S+)\s*$/i.exec(c.req.header('authorization') ?? '')?.[1];
  return bearer ?? c.req.header('x-api-key')?.trim();
}

/**
 * Owner of the key that the request presents, else of `other`; null for a missing or unknown key. As `ApiKeys.owner`,
 * with the address of the connection: behind a proxy it is the proxy's. Rejects with `forbidden` for a key that reads
 * metrics only.
 */
export async function presentedOwner(
  c: AppContext,
  keys: ApiKeys,
  other?: string,
): Promise<string | null> {
  const key = presentedKey(c) ?? other;
  if (key === undefined || key === '') return null;
  const bindings = c.env as { incoming?: IncomingMessage } | undefined;
  const owner = await keys.owner(key, bindings?.incoming?.socket.remoteAddress);
  if (owner !== null && keys.isForMetrics(owner) && c.req.path !== METRICS_PATH) {
    const detail = `This API key has the mark metrics: it reads ${METRICS_PATH} only.`;
    throw new LatticeError('forbidden', detail);
  }
  return owner;
}
