/** zod issues -> `validation_failed` with one entry per broken rule. */
import { z } from 'zod';
import { LatticeError, type ErrorItem } from '../../api/errors.js';

/** Bounds the answer: a small body can break many rules. */
const MAX_ITEMS = 50;

const WRONG_VALUE = 'It is no value of this field.';
const WRONG_KEY = 'A key of it is no key of this field.';

const UNITS: Record<string, [one: string, more: string]> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
};
const TYPES: Record<string, string> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  null: 'null',
  object: 'an object',
  record: 'an object',
};

/** `value` as parsed by the schema; throws `validation_failed`. `prefix` starts each pointer; null: no pointers. */
export function validate<T extends z.ZodType>(
  schema: T,
  value: unknown,
  prefix: string | null = '#',
): z.output<T> {
  const parsed = schema.safeParse(value, { error: ruleText });
  if (parsed.success) return parsed.data;
  const issues = withoutFollowing(parsed.error.issues);
  throw validationFailed(issues.flatMap((issue) => describe(issue, value, prefix)));
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

/** Keeps only the wrong type of a value that has one: its length or size says nothing. */
function withoutFollowing(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const place = ({ path }: z.core.$ZodIssue) => pointer('', path);
  const mistyped = new Set(issues.filter(({ code }) => code === 'invalid_type').map(place));
  return issues.filter((issue) => issue.code === 'invalid_type' || !mistyped.has(place(issue)));
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
  const meant = issue.code === 'invalid_union' ? meantForm(issue) : undefined;
  if (meant !== undefined) {
    return meant.flatMap((inner) =>
      describe({ ...inner, path: [...issue.path, ...inner.path] }, value, prefix),
    );
  }
  const { path, found } = asWritten(issue.path, value);
  const name = path.map(String).join('.');
  // JSON has no undefined: the field is missing.
  if (issue.code !== 'custom' && path.length > 0 && found === undefined) {
    return [{ detail: `Field '${name}' is missing.`, ...at(path) }];
  }
  return [{ detail: name === '' ? issue.message : `${name}: ${issue.message}`, ...at(path) }];
}

/** Returns the issues of the only union member whose shape the value has; undefined if no member or several match. */
function meantForm({ errors }: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue[] | undefined {
  const shaped = errors.filter((issues) => issues.every(({ path }) => path.length > 0));
  return shaped.length === 1 ? shaped[0] : undefined;
}

/** Returns the part of `path` that the caller wrote, and its value: a list in a query is one text without fields. */
function asWritten(
  path: readonly PropertyKey[],
  value: unknown,
): { path: readonly PropertyKey[]; found: unknown } {
  let found = value;
  for (const [depth, key] of path.entries()) {
    if (typeof found !== 'object' || found === null) return { path: path.slice(0, depth), found };
    found = (found as Record<PropertyKey, unknown>)[key];
  }
  return { path, found };
}

/** Shortens a text of the caller for a message. */
export function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}

/**
 * Gives a rule in words of JSON, where its schema has no text. zod's own texts name zod types, so none of them reaches
 * a caller.
 */
function ruleText(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'too_big':
      return `It must ${bound(issue.inclusive === false ? 'below' : 'at most', issue.maximum, issue.origin)}.`;
    case 'too_small':
      return `It must ${bound(issue.inclusive === false ? 'above' : 'at least', issue.minimum, issue.origin)}.`;
    case 'invalid_type':
      return `It must be ${TYPES[issue.expected] ?? issue.expected}.`;
    case 'invalid_value':
      return `It must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}.`;
    case 'invalid_union':
      return unionText(issue);
    case 'invalid_key':
      return issue.issues[0]?.message ?? WRONG_KEY;
    case 'not_multiple_of':
      return `It must be a multiple of ${issue.divisor}.`;
    case 'invalid_format':
      return `It must be a text of the form ${issue.pattern ?? issue.format}.`;
    case 'unrecognized_keys':
    case 'invalid_element':
    case 'custom':
      return WRONG_VALUE;
  }
}

/** Lists the names that a field may have, if it decides which member is meant; else says what each member must be. */
function unionText({ options, errors = [] }: { options?: unknown; errors?: z.core.$ZodIssue[][] }) {
  if (Array.isArray(options)) return `It must be one of ${options.join(', ')}.`;
  const rules = errors.flatMap(([first]) => (first === undefined ? [] : [first.message]));
  const kinds = rules.map((rule) => /^It must be (.*)\.$/.exec(rule)?.[1]);
  if (kinds.length === 0 || kinds.includes(undefined)) return rules[0] ?? WRONG_VALUE;
  return `It must be ${[...new Set(kinds)].join(' or ')}.`;
}

function bound(limit: string, count: number | bigint, origin: string): string {
  const units = UNITS[origin];
  if (units === undefined) return `be ${limit} ${count}`;
  return `have ${limit} ${count} ${units[Number(count) === 1 ? 0 : 1]}`;
}
