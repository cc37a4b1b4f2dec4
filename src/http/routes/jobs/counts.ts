/** `GET /v1/jobs/{job_id}/counts`: images and boxes of a job by image, folder, hour or day, as JSON or CSV. */
import { z } from '@hono/zod-openapi';
import { cell } from '../../../export/csv.js';
import { GROUPINGS, type Grouping } from '../../../api/job-values.js';
import { withoutOutcome, type ImageCounts, type Job } from '../../../store/job.js';
import type { JobImages } from '../../../jobs/stored-images.js';
import type { HideFolders } from '../../../answers/shown-problem.js';
import { replyPieces } from '../../answer/reply.js';
import { readQuery } from '../../request/query.js';
import type { AddRoute } from '../../route.js';
import type { RouteParts } from '../../route-parts.js';
import {
  COUNTED_SOURCES,
  CountSum,
  groupOf,
  groupSchema,
  sorted,
  sumSchema,
  toWireCounted,
  toWireGroup,
  type GroupBody,
} from './count-groups.js';
import { jobIdSchema, notRunSchema, stateSchema } from '../../../answers/job-fields.js';
import { JOB_ERRORS, params } from './job-of-path.js';
import { ASKS_AGAIN, askedRequest, QUESTION_ERRORS, questionShape } from './question.js';

const COUNT_FORMATS = ['json', 'csv'] as const;
/** Groups per piece of an answer. */
const GROUPS_PER_PIECE = 500;

export const countsQuerySchema = z.strictObject({
  by: z
    .enum(GROUPINGS, { error: `by is one of ${GROUPINGS.join(', ')}.` })
    .default('hour')
    .openapi({ default: 'hour' }),
  format: z
    .enum(COUNT_FORMATS, { error: `format is one of ${COUNT_FORMATS.join(', ')}.` })
    .default('json')
    .openapi({ default: 'json' }),
});

const jobCountsSchema = z
  .object({
    job_id: jobIdSchema,
    status: stateSchema,
    by: z.enum(GROUPINGS),
    pending_images: z
      .int()
      .openapi({ description: 'Images that have not ended: they are not counted yet' }),
    not_run_images: notRunSchema,
    total: sumSchema,
    groups: z.array(groupSchema).openapi({
      description:
        'Hours, days and folders in their order, images in that of the job. Hours and days without an image are left out',
    }),
  })
  .openapi('JobCounts');

export type JobCountsBody = z.infer<typeof jobCountsSchema>;

const headersSchema = z.object({
  'Content-Disposition': z.string().optional().openapi({
    description: 'With `format=csv`',
    example: 'attachment; filename="job_1.counts-by-hour.csv"',
  }),
  'X-Lattice-Pending-Images': z.coerce
    .number()
    .int()
    .openapi({ description: 'Images that have not ended: they are not counted yet' }),
});

export function countRoutes(route: AddRoute, parts: RouteParts): void {
  const { hide, logger } = parts;
  route(
    {
      method: 'get',
      path: '/v1/jobs/{job_id}/counts',
      operationId: 'getJobCounts',
      summary: 'Counts of a job by image, folder, hour or day',
      description:
        'Also while the job runs: of the images that have ended. The time of an image is that of its EXIF data ' +
        "(DateTimeOriginal, DateTimeDigitized, DateTime), else of its file's name and folders, else of its file's last " +
        'change in the time zone of the service. It is read once, when the image is processed, and is that of the clock on the wall: it has no zone. ' +
        ASKS_AGAIN,
      tags: ['Jobs'],
      request: { params, query: countsQuerySchema.extend(questionShape) },
      answers: {
        200: {
          description: 'The counts so far',
          headers: headersSchema,
          content: {
            'application/json': { schema: jobCountsSchema },
            'text/csv': { schema: z.string() },
          },
        },
      },
      errors: [...JOB_ERRORS, ...QUESTION_ERRORS],
    },
    async (c) => {
      const { query, ask } = askedRequest(c);
      const { by, format } = readQuery(countsQuerySchema, query);
      const { job, images } = await ask(parts);
      const counts = await countJob(job, by, images, hide);
      const onBroken = (error: unknown): void => {
        const fields = { err: error, job_id: job.jobId, request_id: c.get('requestId') };
        logger.error(fields, 'counts broken off');
      };
      const headers = { 'x-lattice-pending-images': String(counts.left.pending) };
      if (format === 'json') return replyPieces(c, 200, jsonText(counts), onBroken, headers);
      return replyPieces(c, 200, csvText(counts), onBroken, {
        ...headers,
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': `attachment; filename="${job.jobId}.counts-by-${by}.csv"`,
      });
    },
  );
}

interface Counts {
  job: Job;
  by: Grouping;
  /** Images that are not counted. */
  left: Record<ReturnType<typeof withoutOutcome>, number>;
  total: CountSum;
  /** The groups of the images of `total`. */
  groups: () => AsyncIterable<GroupBody[]>;
}

/** Images are read page by page; what is kept is one sum per group. */
async function countJob(
  job: Job,
  by: Grouping,
  jobs: Pick<JobImages, 'countPages'>,
  hide: HideFolders,
): Promise<Counts> {
  const total = new CountSum();
  const sums = new Map<string | null, CountSum>();
  /** Images end between two reads of a job that runs. */
  const isCounted = new Uint8Array(job.imageCount);
  const add = (image: ImageCounts): void => {
    isCounted[image.index] = 1;
    total.add(image);
    if (by === 'image') return;
    const group = groupOf(by, image, hide);
    const sum = sums.get(group) ?? new CountSum();
    sums.set(group, sum);
    sum.add(image);
  };
  for await (const page of jobs.countPages(job.jobId)) page.forEach(add);
  async function* images(): AsyncGenerator<GroupBody[], void> {
    for await (const page of jobs.countPages(job.jobId)) {
      yield page
        .filter(({ index }) => isCounted[index] === 1)
        .map((image) => toWireCounted(image, hide));
    }
  }
  const groups = by === 'image' ? images : () => inParts(sorted(sums));
  const left = { pending: 0, not_run: 0, [withoutOutcome(job)]: job.imageCount - total.images };
  return { job, by, left, total, groups };
}

// eslint-disable-next-line @typescript-eslint/require-await -- as the images, which are read
async function* inParts(sums: [string | null, CountSum][]): AsyncGenerator<GroupBody[], void> {
  for (let at = 0; at < sums.length; at += GROUPS_PER_PIECE) {
    yield sums.slice(at, at + GROUPS_PER_PIECE).map((sum) => toWireGroup(...sum));
  }
}

async function* jsonText(counts: Counts): AsyncGenerator<string, void> {
  const { job, by, left, total } = counts;
  const head: Omit<JobCountsBody, 'groups'> = {
    job_id: job.jobId,
    status: job.status,
    by,
    pending_images: left.pending,
    not_run_images: left.not_run,
    total: total.toWire(),
  };
  let text = `${JSON.stringify(head).slice(0, -1)},"groups":[`;
  let separator = '';
  for await (const groups of counts.groups()) {
    for (const group of groups) {
      text += `${separator}${JSON.stringify(group)}`;
      separator = ',\n';
    }
    yield text;
    text = '';
  }
  yield `${text}]}`;
}

/** Columns of classes and regions are those of the whole job, by name. */
async function* csvText(counts: Counts): AsyncGenerator<string, void> {
  const { by, total } = counts;
  const classes = sorted(total.classes).map(([name]) => name);
  const regions = sorted(total.regions).flatMap(([region, sums]) =>
    sorted(sums).map(([name]) => [region, name] as const),
  );
  const isImage = by === 'image';
  const header = [
    ...(isImage ? ['image', 'time', 'time_source'] : [by]),
    ...['images', 'failed_images', 'empty_images', 'detections'],
    ...(isImage ? [] : COUNTED_SOURCES.map((source) => `time_sources.${source}`)),
    ...classes.map((name) => `class_counts.${name}`),
    ...regions.map(([region, name]) => `region_counts.${region}.${name}`),
  ];
  const line = (group: GroupBody): string => {
    const { time, time_source: source, time_sources: sources } = group;
    const cells = [
      ...[group.group, ...(isImage ? [time, source] : [])].map((text) => cell(text ?? '')),
      ...[group.images, group.failed_images, group.empty_images, group.detections],
      ...(isImage ? [] : COUNTED_SOURCES.map((each) => sources?.[each] ?? 0)),
      ...classes.map((name) => group.class_counts[name] ?? 0),
      ...regions.map(([region, name]) => group.region_counts?.[region]?.[name] ?? 0),
    ];
    return `${cells.join(',')}\r\n`;
  };
  let text = `${header.map(cell).join(',')}\r\n`;
  for await (const groups of counts.groups()) {
    yield text + groups.map(line).join('');
    text = '';
  }
  if (text !== '') yield text;
}
