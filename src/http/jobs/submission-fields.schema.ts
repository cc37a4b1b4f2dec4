/** The two fields of a submission that carry somebody else's data: a URL to call and an object to pass through. */
import { z } from '@hono/zod-openapi';
import { MAX_DEPTH, MAX_KEYS } from '../request/json-body.js';

const MAX_URL = 2_048;
const MAX_METADATA_BYTES = 64 * 1024;
/** Keys that change an object's nature in careless receivers. */
const REFUSED_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/** Written out: `URL` makes hosts of `http:x` and `http:///x`, and drops white space, without a word. */
const WRITTEN_URL = /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s/\\?#@]+(?:[/?#]\S*)?$/;

/** No user name either: the pattern has no `@` before the path. */
const isCallable = (text: string): boolean => WRITTEN_URL.test(text) && URL.canParse(text);

export const callbackUrlSchema = z
  .string()
  .max(MAX_URL)
  .refine(isCallable, {
    error: 'A callback_url is http://HOST... or https://HOST... without user name or white space.',
  })
  .openapi({
    pattern: WRITTEN_URL.source,
    description: 'The result is POSTed here when the job ends',
    example: 'https://example.org/hooks/detection',
  });

/** Why an object cannot be stored as metadata, or null. */
function metadataFault(value: unknown): string | null {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'Numbers must be finite.';
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, inner] of Object.entries(value)) {
    if (!Array.isArray(value) && REFUSED_KEYS.has(key)) return `The key '${key}' is not allowed.`;
    const fault = metadataFault(inner);
    if (fault !== null) return fault;
  }
  return null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** As the document has it. Named: generators lose the null of a map whose type is a list, or the map itself. */
export const METADATA_COMPONENT = {
  type: 'object',
  additionalProperties: {},
  maxProperties: MAX_KEYS,
  description:
    `Any JSON object up to 64 KiB, passed through to the result; at most ${MAX_KEYS} keys an object and ` +
    `${MAX_DEPTH - 1} levels. Numbers are of double precision: send an integer beyond 2^53 as text`,
  example: { camera: 'north-gate' },
} as const;

/** Kept as it came, never copied key by key: a copy would lose or act on keys such as `__proto__`. */
export const metadataSchema = (z.unknown() as z.ZodType<Record<string, unknown>>)
  .refine(isObject, { error: 'metadata is an object.', abort: true })
  .superRefine((value, context) => {
    const fault = metadataFault(value);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault });
    else if (Buffer.byteLength(JSON.stringify(value)) > MAX_METADATA_BYTES) {
      context.addIssue({
        code: 'custom',
        message: `metadata has at most ${MAX_METADATA_BYTES} bytes as JSON.`,
      });
    }
  })
  .openapi({ anyOf: [{ $ref: '#/components/schemas/JobMetadata' }, { type: 'null' }] });
