/** zod issues -> `validation_failed` with one entry per broken rule. */
import { z } from 'zod';
import { LatticeError, type ErrorItem } from '../errors.js';

/** More than this helps nobody and would let a small body ask for a large answer. */
const MAX_ITEMS = 50;

/** `value` as the schema has it, or throws `validation_failed`. `prefix` starts each pointer; null: no pointers. */
export function validate<T extends z.ZodType>(
  schema: T,
  value: unknown,
  prefix: string | null = '#',
): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw validationFailed(parsed.error.issues.flatMap((issue) => describe(issue, value, prefix)));
}

/** The error for broken rules found outside a schema. */
export function validationFailed(items: readonly ErrorItem[]): LatticeError {
  const first = items[0]?.detail ?? 'The request breaks a rule.';
  const more = items.length > 1 ? ` (and ${items.length - 1} more)` : '';
  return new LatticeError('validation_failed', `${first}${more}`, {
    errors: items.slice(0, MAX_ITEMS),
  });
}

/** JSON Pointer as a URI fragment (RFC 6901 section 6, with `~` and `/` escaped). */
export function pointer(prefix: string, path: readonly PropertyKey[]): string {
  const tokens = path.map((key) => String(key).replaceAll('~', '~0').replaceAll('/', '~1'));
  return [prefix, ...tokens].join('/');
}

function describe(issue: z.core.$ZodIssue, value: unknown, prefix: string | null): ErrorItem[] {
  const at = (path: readonly PropertyKey[]) =>
    prefix === null ? {} : { pointer: pointer(prefix, path) };
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, MAX_ITEMS).map((key) => ({
      detail: `Unknown field '${shorten(key)}'.`,
      ...at([...issue.path, shorten(key)]),
    }));
  }
  if (issue.code !== 'custom' && isMissing(value, issue.path)) {
    return [
      { detail: `Field '${issue.path.map(String).join('.')}' is missing.`, ...at(issue.path) },
    ];
  }
  const name = issue.path.length === 0 ? '' : `${issue.path.map(String).join('.')}: `;
  return [{ detail: `${name}${issue.message}`, ...at(issue.path) }];
}

/** JSON has no undefined: what is undefined in it is not there. */
function isMissing(value: unknown, path: readonly PropertyKey[]): boolean {
  let found = value;
  for (const key of path) {
    // A query value that is split into parts is text here, and no part of it is missing.
    if (typeof found !== 'object' || found === null) return false;
    found = (found as Record<PropertyKey, unknown>)[key];
  }
  return path.length > 0 && found === undefined;
}

function shorten(key: string): string {
  return key.length > 100 ? `${key.slice(0, 100)}...` : key;
}
