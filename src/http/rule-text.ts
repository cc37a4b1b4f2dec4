/** A broken rule in the words of the caller's document; zod's own name its types. */
import type { z } from 'zod';

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
  object: 'an object',
  record: 'an object',
};

/** For rules whose schema gives no text of its own. Undefined leaves zod's. */
export function ruleText(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'too_big':
      return `It must ${bound('at most', issue.maximum, issue.origin)}.`;
    case 'too_small':
      return `It must ${bound('at least', issue.minimum, issue.origin)}.`;
    case 'invalid_type':
      return `It must be ${TYPES[issue.expected] ?? issue.expected}.`;
    case 'invalid_value':
      return `It must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}.`;
    default:
      return undefined;
  }
}

function bound(limit: string, count: number | bigint, origin: string): string {
  const units = UNITS[origin];
  if (units === undefined) return `be ${limit} ${count}`;
  return `have ${limit} ${count} ${units[Number(count) === 1 ? 0 : 1]}`;
}
