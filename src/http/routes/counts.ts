/** `GET /v1/counts`: images and boxes over the jobs of a watch or a tag, in groups of time, folder or event. */
import { z } from '@hono/zod-openapi';
import { SCOPE_GROUPINGS } from '../../api/job-values.js';
import type { CountFigures } from '../../store/count-tally.js';
import { csvHeadersShape, formatSchema, replyCsv } from '../answer/csv.js';
import { replyPieces } from '../answer/reply.js';
import { readQuery } from '../request/query.js';
import type { AddRoute } from '../route.js';
import type { RouteParts } from '../route-parts.js';
import {
  figuresShape,
  refuseUnknownWatch,
  scopeBodyShape,
  scopeOf,
  scopeShape,
  toWireFigures,
  toWireScope,
} from './count-scope.js';
import { groupSchema, sumSchema, toWireSum } from './jobs/count-groups.js';
import {
  countsFile,
  DISMISSED,
  EVENTS,
  pictureRule,
  pictureShape,
  eventText,
  groupingSchema,
  jsonText,
  sumText,
  type CountText,
} from './jobs/count-texts.js';
import { askedRequest, questionShape } from './jobs/question.js';

export const countsQuerySchema = z.strictObject({
  ...scopeShape,
  by: groupingSchema(SCOPE_GROUPINGS),
  ...pictureShape,
  format: formatSchema,
});

const countsSchema = z
  .object({
    ...scopeBodyShape,
    by: z.enum(SCOPE_GROUPINGS),
    ...figuresShape,
    total: sumSchema,
    groups: z.array(groupSchema).openapi({
      description: 'In their order. Hours and days without an image are left out',
    }),
  })
  .openapi('Counts');

export type CountsBody = z.infer<typeof countsSchema>;

const headersSchema = z.object(csvHeadersShape('north-gate.counts-by-hour.csv'));

export function countRoutes(route: AddRoute, parts: RouteParts): void {
  const { hide, logger, jobs } = parts;
  route(
    {
      method: 'get',
      path: '/v1/counts',
      operationId: 'getCounts',
      summary:
        'Counts over the jobs of a watch or a tag, by hour, day, folder, folder and hour, or event',
      description:
        'Counts of images by the time at which they were taken, each job by its own question; with thresholds, classes, ' +
        'sizes, regions or a view in the query all are asked that question. Counts by hour and folder of watches and ' +
        'tagged jobs stay when retention removes the jobs (LATTICE_KEPT_COUNTS); those of a job that is deleted go with it. ' +
        `${EVENTS} Events are of stored jobs only. ${DISMISSED}`,
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
      const { watch, by, format } = read;
      const rule = pictureRule(read);
      const keyId = c.get('keyId');
      const scope = scopeOf(read, keyId);
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
      await refuseUnknownWatch(parts, watch, counted, keyId);
      const onBroken = (error: unknown): void => {
        const fields = { err: error, request_id: c.get('requestId') };
        logger.error(fields, 'counts broken off');
      };
      if (format === 'csv') return replyCsv(c, countsFile(counts, watch ?? 'tag'), onBroken);
      const head: Omit<CountsBody, 'groups'> = {
        ...toWireScope(read),
        by,
        ...toWireFigures(counted),
        total: toWireSum(counts.total),
      };
      return replyPieces(c, 200, jsonText(head, counts.groups()), onBroken);
    },
  );
}
