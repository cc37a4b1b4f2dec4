/** `GET /v1/counts`: images and boxes over the jobs of a watch or a tag, by hour, day, folder or event. */
import { z } from '@hono/zod-openapi';
import { CAMERAS, SCOPE_GROUPINGS, STATIC_CHOICES } from '../../api/job-values.js';
import type { CountFigures } from '../../store/count-tally.js';
import { replyPieces } from '../answer/reply.js';
import { readQuery } from '../request/query.js';
import { validationFailed } from '../request/validation.js';
import type { AddRoute } from '../route.js';
import type { RouteParts } from '../route-parts.js';
import { notRunSchema } from '../../answers/job-fields.js';
import { groupSchema, sumSchema, toWireSum } from './jobs/count-groups.js';
import {
  countFormatSchema,
  EVENTS,
  pictureRule,
  pictureShape,
  eventText,
  groupingSchema,
  jsonText,
  replyCsv,
  sumText,
  type CountText,
} from './jobs/count-texts.js';
import { listQuerySchema } from './jobs/list-query.js';
import { askedRequest, questionShape } from './jobs/question.js';
import { watchNameSchema } from './watches.js';

const HOUR = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:T(?:[01]\d|2[0-3])(?::00)?)?$/;

/** A whole hour or a day of wall time -> an hour as the store has it. */
const hourSchema = (name: string) =>
  z
    .string()
    .regex(HOUR, { error: `${name} is a day or a whole hour: 2025-11-26 or 2025-11-26T14:00.` })
    .transform((text) =>
      text.includes('T') ? text.slice(0, '2025-11-26T14'.length) : `${text}T00`,
    );

export const countsQuerySchema = z.strictObject({
  watch: watchNameSchema.optional().openapi({ description: 'Jobs of this watch' }),
  tag: listQuerySchema.shape.tag,
  from: hourSchema('from').optional().openapi({
    type: 'string',
    description:
      'The first hour of the pictures, as the clock on the wall showed it. With bounds, images without a time are left out',
    example: '2025-11-01',
  }),
  to: hourSchema('to').optional().openapi({
    type: 'string',
    description: 'The hour after the last one; a day is its beginning',
    example: '2025-12-01',
  }),
  by: groupingSchema(SCOPE_GROUPINGS),
  ...pictureShape,
  format: countFormatSchema,
});

const countsSchema = z
  .object({
    watch: z.string().nullable(),
    tag: z.string().nullable(),
    from: z.string().nullable().openapi({ example: '2025-11-01T00:00' }),
    to: z.string().nullable().openapi({ example: '2025-12-01T00:00' }),
    by: z.enum(SCOPE_GROUPINGS),
    jobs: z
      .int()
      .openapi({ description: 'That are stored, with or without images in these hours' }),
    pending_images: z.int().openapi({
      description: 'Images of these jobs that have not ended: they are not counted yet',
    }),
    not_run_images: notRunSchema,
    removed_images: z.int().openapi({
      description:
        'Images in these hours whose results were removed with their jobs. They are counted by the question of their ' +
        'jobs, and not counted where the query asks another one or for events',
    }),
    unanswered_images: z.int().openapi({
      description:
        'Images in these hours of jobs whose boxes cannot answer the question of the query: they are not counted, and need a new run',
    }),
    total: sumSchema,
    groups: z.array(groupSchema).openapi({
      description: 'In their order. Hours and days without an image are left out',
    }),
  })
  .openapi('Counts');

export type CountsBody = z.infer<typeof countsSchema>;

const headersSchema = z.object({
  'Content-Disposition': z.string().optional().openapi({
    description: 'With `format=csv`',
    example: 'attachment; filename="north-gate.counts-by-hour.csv"',
  }),
});

export function countRoutes(route: AddRoute, parts: RouteParts): void {
  const { hide, logger, jobs, watches } = parts;
  route(
    {
      method: 'get',
      path: '/v1/counts',
      operationId: 'getCounts',
      summary: 'Counts over the jobs of a watch or a tag, by hour, day, folder or event',
      description:
        'Counts of images by the time at which they were taken, each job by its own question; with thresholds, classes, ' +
        'sizes, regions or a view in the query all are asked that question. Counts by hour and folder of watches and ' +
        'tagged jobs stay when retention removes the jobs (LATTICE_KEPT_COUNTS); those of a job that is deleted go with it. ' +
        `${EVENTS} Events are of stored jobs only.`,
      tags: ['Jobs'],
      request: { query: countsQuerySchema.extend(questionShape) },
      answers: {
        200: {
          description: 'The counts so far',
          headers: headersSchema,
          content: {
            'application/json': { schema: countsSchema },
            'text/csv': { schema: z.string() },
          },
        },
      },
      errors: ['watch_not_found', 'view_not_found', 'needs_new_run', 'storage_unavailable'],
    },
    async (c) => {
      const { query, question } = askedRequest(c);
      const read = readQuery(countsQuerySchema, query);
      const { watch, tag, from, to, by, format } = read;
      const rule = pictureRule(read);
      refuseScope(watch, tag, from, to);
      const keyId = c.get('keyId');
      const scope = { jobs: { keyId, watch, tag }, from, until: to };
      const asked = await question(parts);
      const count = async (): Promise<{ counted: CountFigures; counts: CountText }> => {
        if (by === 'event') {
          const events = await jobs.eventsOf(scope, rule, asked, keyId);
          return { counted: events, counts: eventText(events, hide) };
        }
        const sums = await jobs.countsOf(scope, rule, asked, keyId);
        return { counted: sums, counts: sumText(by, sums, hide) };
      };
      const { counted, counts } = await count();
      const { jobs: found, removedImages } = counted;
      if (watch !== undefined && found + removedImages === 0) {
        // A watch that is deleted has its counts, in other hours or without the tag.
        const all = await jobs.countsOf({ jobs: { keyId, watch } }, ALL_BOXES, null, keyId);
        if (all.jobs + all.removedImages === 0) await watches.get(watch, keyId);
      }
      const onBroken = (error: unknown): void => {
        const fields = { err: error, request_id: c.get('requestId') };
        logger.error(fields, 'counts broken off');
      };
      if (format === 'csv') {
        const name = watch ?? 'tag';
        return replyCsv(c, counts, name, onBroken, {});
      }
      const hourText = (hour: string | undefined) => (hour === undefined ? null : `${hour}:00`);
      const head: Omit<CountsBody, 'groups'> = {
        watch: watch ?? null,
        tag: tag ?? null,
        from: hourText(from),
        to: hourText(to),
        by,
        jobs: found,
        pending_images: counted.pendingImages,
        not_run_images: counted.notRunImages,
        removed_images: removedImages,
        unanswered_images: counted.unansweredImages,
        total: toWireSum(counts.total),
      };
      return replyPieces(c, 200, jsonText(head, counts.groups()), onBroken);
    },
  );
}

const ALL_BOXES = { camera: CAMERAS[0], static: STATIC_CHOICES[0] };

function refuseScope(watch?: string, tag?: string, from?: string, to?: string): void {
  if (watch === undefined && tag === undefined) {
    throw validationFailed([{ detail: 'Say whose images are counted: watch or tag.' }]);
  }
  if (from !== undefined && to !== undefined && from >= to) {
    throw validationFailed([{ detail: 'to is later than from.' }]);
  }
}
