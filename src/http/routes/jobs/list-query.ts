/** The query of the list of jobs: its filters, of their rows, the order and the page. */
import { z } from '@hono/zod-openapi';
import { FILTER_ROWS, type FilterRow, type WireFilter } from '../../../api/job-filters.js';
import { JOB_SORTS } from '../../../api/job-values.js';
import { wholeNumber } from '../../request/query.js';
import { modelNameSchema } from '../../request/request-fields.js';
import { shorten } from '../../request/validation.js';

const MOST_VALUES = 16;

const unixSeconds = z
  .string()
  .regex(/^\d+(?:\.\d+)?$/, { error: 'A time is Unix seconds.' })
  .transform(Number)
  .openapi({ type: 'number', format: 'double', minimum: 0 });

function several(values: readonly string[]) {
  const value = z.enum(values, {
    error: ({ input }) => `'${shorten(String(input))}' is none of ${values.join(', ')}.`,
  });
  const pattern = `(?:${values.join('|')})`;
  return z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(value).min(1).max(MOST_VALUES))
    .openapi({ type: 'string', pattern: `^${pattern}(?:,${pattern}){0,${MOST_VALUES - 1}}$` });
}

const words = (most: number) =>
  z
    .string()
    .max(most)
    .transform((text) => text.split(/\s+/u).filter((word) => word !== ''))
    .openapi({ type: 'string', maxLength: most });

function filterSchema(row: FilterRow): z.ZodType {
  switch (row.kind) {
    case 'several':
      return several(row.values);
    case 'one':
      return z.enum(row.values);
    case 'model':
      return modelNameSchema.openapi({ example: undefined });
    case 'words':
      return words(row.most);
    case 'name':
    case 'tag':
      return z.string().min(1).max(row.most);
    case 'after':
    case 'before':
      return unixSeconds;
  }
}

const filters = Object.fromEntries(
  FILTER_ROWS.map((row) => [
    row.wireName,
    filterSchema(row).optional().openapi({ description: row.text }),
  ]),
) as unknown as { [Key in keyof WireFilter]: z.ZodOptional<z.ZodType<WireFilter[Key], string>> };

export const listQuerySchema = z.strictObject({
  ...filters,
  sort: z
    .enum(JOB_SORTS, { error: `sort is one of ${JOB_SORTS.join(', ')}.` })
    .default('submitted')
    .openapi({
      default: 'submitted',
      description:
        'submitted: newest first; ended: those that have not ended, then the last to end first; name: by title from A ' +
        'on. With a minus, the reverse',
    }),
  limit: wholeNumber('A limit', 1, 100).default(20).openapi({ default: 20 }),
  cursor: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .openapi({ description: 'next_cursor of the page before, which was sorted in the same way' }),
  counts: z
    .enum(['true', 'false'], { error: 'counts is true or false.' })
    .optional()
    .openapi({ description: 'true: also how many jobs are in each state' }),
});
