/** API keys where other programs send them. */
import { LatticeError } from '../api/errors.js';
import { presentedOwner, type ApiKeys } from '../http/access/api-keys.js';
import type { AppContext } from '../http/app-env.js';

/** The password of HTTP's basic authentication, for programs that can send a key in no other way. */
export function basicPassword(c: AppContext): string | undefined {
  const basic = /^Basic +([\w+/=]+)\s*$/i.exec(c.req.header('authorization') ?? '')?.[1] ?? '';
  return /^[^:]*:(.*)$/.exec(Buffer.from(basic, 'base64').toString())?.[1];
}

/**
 * The owner of the key that the request presents, else of `other`, becomes `keyId` of the request. Rejects with
 * `unauthorized` and `detail` for a missing or unknown key.
 */
export async function admitOwner(
  c: AppContext,
  keys: ApiKeys | null,
  other: string | undefined,
  detail: string,
): Promise<void> {
  if (keys === null) return;
  const keyId = await presentedOwner(c, keys, other);
  if (keyId === null) throw new LatticeError('unauthorized', detail);
  c.set('keyId', keyId);
}
