/** `GET /v1/jobs/{job_id}/counts`: images and boxes of a job by image, event, folder or time, as JSON or CSV. */
import { z } from '@hono/zod-openapi';
import { GROUPINGS } from '../../../api/job-values.js';
import { CountSum } from '../../../store/count-sum.js';
import { withoutOutcome, type Job } from '../../../store/job.js';
import type { EventRule } from '../../../store/cameras/event-rows.js';
import type { JobImages } from '../../../jobs/stored-images.js';
import type { HideFolders } from '../../../answers/shown-problem.js';
import { csvHeadersShape, formatSchema, replyCsv } from '../../answer/csv.js';
import { replyPieces } from '../../answer/reply.js';
import { readQuery } from '../../request/query.js';
import type { AddRoute } from '../../route.js';
import type { RouteParts } from '../../route-parts.js';
import {
  groupSchema,
  sumSchema,
  toWireCounted,
  toWireSum,
  type GroupBody,
} from './count-groups.js';
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
} from './count-texts.js';
import { jobIdSchema, notRunSchema, stateSchema } from '../../../answers/job-fields.js';
import { JOB_ERRORS, params } from './job-of-path.js';
import { ASKS_AGAIN, askedRequest, QUESTION_ERRORS, questionShape } from './question.js';

export const countsQuerySchema = z.strictObject({
  by: groupingSchema(GROUPINGS),
  ...pictureShape,
  format: formatSchema,
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
        'Hours, days, events and folders in their order, images in that of the job. Hours and days without an image are left out',
    }),
  })
  .openapi('JobCounts');

export type JobCountsBody = z.infer<typeof jobCountsSchema>;

const headersSchema = z.object({
  ...csvHeadersShape('job_1.counts-by-hour.csv'),
  'X-Lattice-Pending-Images': z.coerce
    .number()
    .int()
    .openapi({ description: 'Images that have not ended: they are not counted yet' }),
});

export function jobCountRoutes(route: AddRoute, parts: RouteParts): void {
  const { hide, logger } = parts;
  route(
    {
      method: 'get',
      path: '/v1/jobs/{job_id}/counts',
      operationId: 'getJobCounts',
      summary: 'Counts of a job by image, event, folder, hour, day or folder and hour',
      description:
        'Also while the job runs: of the images that have ended. The time of an image is that of its EXIF data ' +
        "(DateTimeOriginal, DateTimeDigitized, DateTime), else of its file's name and folders, else of its file's last " +
        'change in the time zone of the service. It is read once, when the image is processed, and is that of the clock on the wall: it has no zone. ' +
        `${EVENTS} ${DISMISSED} ` +
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
      const counted = readQuery(countsQuerySchema, query);
      const { by, format } = counted;
      const rule = pictureRule(counted);
      const standing = rule.static === 'include' ? null : rule;
      const { job, images } = await ask(parts, undefined, standing);
      const counts = await countJob(job, { by, rule }, images, hide);
      const onBroken = (error: unknown): void => {
        const fields = { err: error, job_id: job.jobId, request_id: c.get('requestId') };
        logger.error(fields, 'counts broken off');
      };
      const headers = { 'x-lattice-pending-images': String(counts.left.pending) };
      if (format === 'csv') {
        return replyCsv(c, countsFile(counts, job.jobId), onBroken, headers);
      }
      const head: Omit<JobCountsBody, 'groups'> = {
        job_id: job.jobId,
        status: job.status,
        by,
        pending_images: counts.left.pending,
        not_run_images: counts.left.not_run,
        total: toWireSum(counts.total),
      };
      return replyPieces(c, 200, jsonText(head, counts.groups()), onBroken, headers);
    },
  );
}

interface Counts extends CountText {
  /** Images that are not counted. */
  left: Record<ReturnType<typeof withoutOutcome>, number>;
}

/** Images are read page by page; what is kept is one sum per group. */
async function countJob(
  job: Job,
  { by, rule }: { by: CountText['by']; rule: EventRule },
  jobs: Pick<JobImages, 'countPages' | 'countSums' | 'countEvents'>,
  hide: HideFolders,
): Promise<Counts> {
  const text =
    by === 'image'
      ? await countImages(job, jobs, hide)
      : by === 'event'
        ? eventText(await jobs.countEvents(job.jobId, rule), hide)
        : sumText(by, await jobs.countSums(job.jobId, rule), hide);
  const pending = job.imageCount - text.total.images;
  return { ...text, left: { pending: 0, not_run: 0, [withoutOutcome(job)]: pending } };
}

async function countImages(
  { jobId, imageCount }: Job,
  jobs: Pick<JobImages, 'countPages'>,
  hide: HideFolders,
): Promise<CountText> {
  const total = new CountSum();
  /** Images end between two reads of a job that runs. */
  const isCounted = new Uint8Array(imageCount);
  for await (const page of jobs.countPages(jobId)) {
    for (const image of page) {
      isCounted[image.index] = 1;
      total.add(image);
    }
  }
  async function* groups(): AsyncGenerator<GroupBody[], void> {
    for await (const page of jobs.countPages(jobId)) {
      yield page
        .filter(({ index }) => isCounted[index] === 1)
        .map((image) => toWireCounted(image, hide));
    }
  }
  return { by: 'image', total, groups };
}
