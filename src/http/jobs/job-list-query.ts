/** Query of `GET /v1/jobs` -> filter and page. */
import { z } from '@hono/zod-openapi';
import { JOB_STATUSES, type JobFilter } from '../../jobs/job.js';
import { readQuery, wholeNumber } from '../query.js';
import { shorten } from '../validation.js';
import { jobTypeSchema } from './job.schema.js';

const STATUS = `(?:${JOB_STATUSES.join('|')})`;

const timestamp = z
  .string()
  .regex(/^\d+(?:\.\d+)?$/, { error: 'A time is Unix seconds.' })
  .transform(Number)
  .openapi({ type: 'number', format: 'double', minimum: 0, description: 'Unix seconds' });

const status = z.enum(JOB_STATUSES, {
  error: ({ input }) => `'${shorten(String(input))}' is none of ${JOB_STATUSES.join(', ')}.`,
});

export const listQuerySchema = z.strictObject({
  status: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(status).min(1).max(16))
    .optional()
    .openapi({
      type: 'string',
      pattern: `^${STATUS}(?:,${STATUS}){0,15}$`,
      description: `One or more of ${JOB_STATUSES.join(', ')}, separated by commas`,
    }),
  job_type: jobTypeSchema.optional(),
  submitted_after: timestamp.optional(),
  submitted_before: timestamp.optional(),
  limit: wholeNumber('A limit', 1, 100)
    .optional()
    .openapi({ type: 'integer', minimum: 1, maximum: 100, default: 20 }),
  cursor: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .openapi({ description: 'next_cursor of the page before' }),
  counts: z
    .enum(['true', 'false'], { error: 'counts is true or false.' })
    .optional()
    .openapi({ description: 'true: also how many jobs are in each state' }),
});

const DEFAULT_LIMIT = 20;

export interface ListQuery {
  filter: JobFilter;
  page: { limit: number; cursor: string | null };
  counts: boolean;
}

/** Throws `validation_failed` for unknown, repeated or wrong parameters. */
export function readListQuery(given: Record<string, string[]>, keyId: string | null): ListQuery {
  const query = readQuery(listQuerySchema, given);
  const filter: JobFilter = {
    keyId,
    status: query.status,
    jobType: query.job_type,
    submittedAfter: query.submitted_after,
    submittedBefore: query.submitted_before,
  };
  const page = { limit: query.limit ?? DEFAULT_LIMIT, cursor: query.cursor ?? null };
  return { filter, page, counts: query.counts === 'true' };
}
