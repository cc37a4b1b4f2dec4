/** Schemas of the fields of a submission, from their rows. */
import { z } from 'zod';
import { forOwnPages } from './own-pages.js';
import { FIELD_ROWS, type FieldRow, type WireFields } from '../submission-fields.js';

const MOST_URL = 2_048;

/**
 * An address with its `//` and host. `URL` alone is too lenient: it reads `http:x` and `http:///x` as `http://x`, and
 * removes white space, without an error.
 */
const WRITTEN_URL = /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s/\\?#@]+(?:[/?#]\S*)?$/;

/** No user name either: the pattern has no `@` before the path. */
const isCallable = (text: string): boolean => WRITTEN_URL.test(text) && URL.canParse(text);

function value(row: FieldRow): z.ZodType {
  const { text: description, default: standard } = row;
  switch (row.kind) {
    case 'number':
      return z.int().min(0).max(row.most).meta({ description, default: standard });
    case 'choice':
      return z.enum(row.values).meta({ description, default: standard });
    case 'switch':
      return z.boolean().meta({ description, default: standard });
    case 'address': {
      const error = `A ${row.wireName} is http://HOST... or https://HOST... without user name or white space.`;
      const address = z.string().max(MOST_URL).refine(isCallable, { error });
      return address.meta({ pattern: WRITTEN_URL.source, description, example: row.example });
    }
  }
}

/** Fields of a request: each may be left out or null. */
export const requestFields = Object.fromEntries(
  FIELD_ROWS.map((row) => {
    const field = value(row).nullish();
    return [row.wireName, row.forOwnPages === true ? forOwnPages(field) : field];
  }),
) as unknown as {
  [Key in keyof WireFields]: z.ZodOptional<z.ZodNullable<z.ZodType<WireFields[Key]>>>;
};
