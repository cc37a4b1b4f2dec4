/** Request body -> JSON value, within the limits on bytes, depth and keys. */
import { LatticeError } from '../../api/errors.js';
import type { AppContext } from '../app-env.js';
import { bodyOf, declaredBytes, readChunks, refuseCoding } from './read-body.js';
import { validationFailed } from './validation.js';

export const MAX_DEPTH = 16;
export const MAX_KEYS = 1_000;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Throws `unsupported_media_type`, `body_too_large`, `bad_json`, or `validation_failed` for a value nested or
 * keyed beyond the limits: such a value parses, but later copies of it would not.
 */
export async function readJson(
  c: AppContext,
  maxBytes: number,
  wantedTypes?: string,
): Promise<unknown> {
  return (await readJsonText(c, maxBytes, wantedTypes)).value;
}

/** The value with its text, and otherwise as `readJson`. */
export async function readJsonText(
  c: AppContext,
  maxBytes: number,
  wantedTypes = 'Send the body as JSON with Content-Type: application/json.',
): Promise<{ value: unknown; text: string }> {
  const type = c.req.header('content-type');
  if (type === undefined || !JSON_TYPE.test(type)) {
    throw new LatticeError('unsupported_media_type', wantedTypes);
  }
  refuseCoding(c);
  const text = decode(await readBytes(c, maxBytes));
  return { value: parseJson(text), text };
}

/** Text -> JSON value within the limits on depth and keys. */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The engine's message contains a position and a few characters, which help the caller.
    const reason = error instanceof Error ? error.message : String(error);
    throw new LatticeError('bad_json', `The body is not valid JSON: ${reason}`);
  }
  checkShape(value, 1);
  return value;
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new LatticeError('bad_json', 'The body is not valid UTF-8.');
  }
}

async function readBytes(c: AppContext, maxBytes: number): Promise<Uint8Array> {
  const declared = declaredBytes(c);
  const refuseBeyond = (size: number) => {
    if (size <= maxBytes) return;
    throw new LatticeError('body_too_large', `The body exceeds ${maxBytes} bytes.`);
  };
  if (declared !== null) {
    refuseBeyond(declared);
    // The HTTP parser never passes on more than the declared length, so one read is safe.
    const bytes = await c.req.raw.arrayBuffer().catch((cause: unknown) => {
      // A client that closes its connection in the middle of the body is not an error of the service.
      throw new LatticeError('bad_request', 'The body ended early.', { cause });
    });
    refuseBeyond(bytes.byteLength);
    return new Uint8Array(bytes);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  await readChunks(bodyOf(c), (chunk) => {
    size += chunk.length;
    refuseBeyond(size);
    chunks.push(chunk);
  });
  return Buffer.concat(chunks);
}

function checkShape(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH) {
    throw validationFailed([
      { detail: `The JSON is nested deeper than ${MAX_DEPTH} levels.`, pointer: '#' },
    ]);
  }
  if (Array.isArray(value)) {
    for (const item of value) checkShape(item, depth + 1);
    return;
  }
  const fields = Object.values(value);
  if (fields.length > MAX_KEYS) {
    throw validationFailed([
      { detail: `A JSON object has more than ${MAX_KEYS} keys.`, pointer: '#' },
    ]);
  }
  for (const field of fields) checkShape(field, depth + 1);
}
