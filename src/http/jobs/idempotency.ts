/** `Idempotency-Key`: its syntax, its scope, and the fingerprint that tells a repeat from another request. */
import { createHash } from 'node:crypto';
import { validationFailed } from '../validation.js';

export const MAX_IDEMPOTENCY_KEY = 255;

/**
 * The key as the job store keeps it: bare or quoted in the header, scoped to its owner. Undefined without the
 * header. Throws `validation_failed` for an empty, over-long or unprintable key.
 */
export function readIdempotencyKey(
  header: string | undefined,
  keyId: string | null,
): string | undefined {
  if (header === undefined) return undefined;
  const key = /^"(.*)"$/.exec(header.trim())?.[1] ?? header.trim();
  if (key.length === 0 || key.length > MAX_IDEMPOTENCY_KEY || !/^[\x20-\x7e]*$/.test(key)) {
    throw validationFailed([
      { detail: `Idempotency-Key has 1 to ${MAX_IDEMPOTENCY_KEY} printable ASCII characters.` },
    ]);
  }
  return keyId === null ? key : `${keyId}:${key}`;
}

/**
 * SHA-256 of the request with sorted keys: white space, key order and fields that are null, which is as if they were
 * not given, do not make another request.
 */
export function fingerprint(request: unknown): string {
  return createHash('sha256')
    .update(canonical(withoutNulls(request)))
    .digest('hex');
}

function withoutNulls(request: unknown): unknown {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) return request;
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== null));
}

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`;
}
