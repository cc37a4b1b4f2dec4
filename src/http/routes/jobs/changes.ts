/**
 * `GET /v1/jobs/{job_id}/changes`: what another job over the same images found that this one did not, and the reverse.
 */
import { z } from '@hono/zod-openapi';
import { CHANGES, CONFIDENCE_CHANGE, countChanges, type Change } from '../../../boxes/changes.js';
import { LatticeError } from '../../../api/errors.js';
import { detectionSchema, imageSizeSchema } from '../../../api/schemas/image.js';
import type { Job } from '../../../store/job.js';
import {
  comparedImages,
  compareJobs,
  type ComparedImage,
  type JobChanges,
} from '../../../jobs/job-changes.js';
import type { JobService } from '../../../jobs/job-service.js';
import { toWireComparedBox } from '../../../answers/compared-box.js';
import type { HideFolders } from '../../../answers/shown-problem.js';
import type { AppContext } from '../../app-env.js';
import { replyJson } from '../../answer/reply.js';
import { readQuery, wholeNumber } from '../../request/query.js';
import { json, type AddRoute } from '../../route.js';
import type { RouteParts } from '../../route-parts.js';
import { confidence } from './images.js';
import { jobIdSchema, stateSchema } from '../../../answers/job-fields.js';
import { JOB_ERRORS, JOB_ID, params } from './job-of-path.js';
import { ASKS_AGAIN, askedRequest, QUESTION_ERRORS, questionShape } from './question.js';

/** Below the 30 s that clients wait. */
const DEADLINE_MS = 20_000;
/** A page ends after the image with which it has so many. */
const BOXES_PER_PAGE = 1_000;
const LAST_OFFSET = 999_999;

export const changesQuerySchema = z.strictObject({
  with: z
    .string()
    .regex(JOB_ID, { error: 'with is the id of a job.' })
    .openapi({ description: 'Id of the other job' }),
  confidence_change: confidence.default(CONFIDENCE_CHANGE).openapi({
    type: 'number',
    minimum: 0,
    maximum: 1,
    default: CONFIDENCE_CHANGE,
    description: 'A box has changed where its confidence differs by more than this',
  }),
  offset: wholeNumber('An offset', 0, LAST_OFFSET).default(0).openapi({ default: 0 }),
  limit: wholeNumber('A limit', 1, 100).default(20).openapi({ default: 20 }),
});

const changeCounts = {
  gained: z.int().openapi({ description: 'Boxes that only the other job has' }),
  lost: z.int().openapi({ description: 'Boxes that only this job has' }),
  changed: z.int().openapi({
    description:
      'At the same place with another class, another confidence or, by more than a fifth, another area',
  }),
  same: z.int(),
} satisfies Record<Change, z.ZodType>;

const changedBoxSchema = z
  .object({
    change: z.enum(CHANGES).exclude(['same']),
    before: detectionSchema.optional().openapi({ description: 'In this job; absent if gained' }),
    after: detectionSchema.optional().openapi({ description: 'In the other job; absent if lost' }),
  })
  .openapi('ChangedBox');

const changedImageSchema = z
  .object({
    index: z.int().openapi({ description: 'Place in the input of this job, from 0' }),
    with_index: z.int().openapi({ description: 'Place in the input of the other job' }),
    image_path: z.string(),
    image: imageSizeSchema,
    ...changeCounts,
    boxes: z.array(changedBoxSchema).openapi({ description: 'Without those that are the same' }),
  })
  .openapi('ChangedImage');

export const imageCountsSchema = z
  .object({
    compared: z.int().openapi({ description: 'Images that both jobs have processed' }),
    failed: z.int().openapi({ description: 'Images of both jobs, in error in one of them' }),
    pending: z.int().openapi({ description: 'Images of both jobs, not ended in one of them' }),
    not_run: z.int().openapi({
      description: 'Images of both jobs, without a turn in one of them, which was ended before',
    }),
    only_here: z.int().openapi({ description: 'Images that the other job does not have' }),
    only_there: z.int().openapi({ description: 'Images that only the other job has' }),
    unread: z.int().openapi({ description: 'Images of this job that the time was too short for' }),
  })
  .openapi('ChangeImageCounts');

const jobChangesSchema = z
  .object({
    job_id: jobIdSchema,
    status: stateSchema,
    with: z.object({ job_id: jobIdSchema, status: stateSchema }),
    complete: z.boolean().openapi({
      description: 'False while one of the jobs runs, and where images were left unread',
    }),
    image_counts: imageCountsSchema,
    box_counts: z.object(changeCounts).openapi('ChangeCounts'),
    classes: z
      .array(z.object({ class: z.string(), ...changeCounts }).openapi('ClassChanges'))
      .openapi({
        description:
          'Most changes first. A box that has changed its class counts for the class that it had in this job',
      }),
    images: z.array(changedImageSchema).openapi({ description: 'Most changes first' }),
    matching: z.int().openapi({ description: 'Images with changes in all' }),
    next_offset: z
      .int()
      .nullable()
      .openapi({ description: 'Offset of the next page; null at the end' }),
  })
  .openapi('JobChanges');

export type JobChangesBody = z.infer<typeof jobChangesSchema>;
type ChangedImageBody = z.infer<typeof changedImageSchema>;

export function changeRoutes(route: AddRoute, parts: RouteParts): void {
  const { jobs, hide } = parts;
  route(
    {
      method: 'get',
      path: '/v1/jobs/{job_id}/changes',
      operationId: 'getJobChanges',
      summary: 'What another job over the same images found otherwise',
      description:
        'Images are the same by their path. Boxes are paired where their intersection is at least half of their union, ' +
        'those of one class first, then those that overlap most. Also while a job runs: of the images that both have ' +
        'processed. Each page compares anew, for 20 s at most. ' +
        `A question is asked of both jobs. ${ASKS_AGAIN}`,
      tags: ['Jobs'],
      request: { params, query: changesQuerySchema.extend(questionShape) },
      answers: {
        200: json('One page of the images with changes, and all in figures', jobChangesSchema),
      },
      errors: [...JOB_ERRORS, ...QUESTION_ERRORS],
    },
    async (c) => {
      const { query: given, ask } = askedRequest(c);
      const query = readQuery(changesQuerySchema, given);
      const how = { ...comparisonOf(c, hide), confidenceChange: query.confidence_change };
      const { job, images: asked, otherJob: otherAsked } = await ask(parts);
      const other = otherAsked(await otherJob(query.with, c, jobs));
      const changes = await compareJobs(asked, job, other, how);
      const wanted = changes.changed.slice(query.offset, query.offset + query.limit);
      const images: ChangedImageBody[] = [];
      let boxes = 0;
      for await (const image of comparedImages(asked, job, other, wanted, how)) {
        const body = toWireImage(image, hide);
        images.push(body);
        boxes += body.boxes.length;
        if (boxes >= BOXES_PER_PAGE) break;
      }
      const next = query.offset + images.length;
      const body: JobChangesBody = {
        ...toWireFigures(job, other, changes),
        images,
        next_offset: images.length > 0 && next < changes.changed.length ? next : null,
      };
      return replyJson(c, 200, body);
    },
  );
}

/** Pairs images by their path. The comparison ends when the caller has gone, or in time for its answer. */
export function comparisonOf(c: AppContext, hide: HideFolders) {
  const until = performance.now() + DEADLINE_MS;
  return {
    nameOf: hide,
    isOver: () => performance.now() >= until || c.req.raw.signal.aborted,
  };
}

/** Finds the job that `with` names. The error says which of the two jobs does not exist. */
export async function otherJob(jobId: string, c: AppContext, jobs: JobService): Promise<Job> {
  try {
    return await jobs.get(jobId, c.get('keyId'));
  } catch (error) {
    if (!(error instanceof LatticeError) || error.code !== 'job_not_found') throw error;
    throw new LatticeError('job_not_found', "No job has the id that 'with' names.");
  }
}

function toWireFigures(
  job: Job,
  other: Job,
  { images, classes, changed }: JobChanges,
): Omit<JobChangesBody, 'images' | 'next_offset'> {
  const total = countChanges([]);
  const rows = [...classes].map(([name, counts]) => {
    for (const change of CHANGES) total[change] += counts[change];
    return { class: name, ...counts };
  });
  const changesOf = (counts: Record<Change, number>) =>
    counts.gained + counts.lost + counts.changed;
  return {
    job_id: job.jobId,
    status: job.status,
    with: { job_id: other.jobId, status: other.status },
    complete: isComplete(job, other, images),
    image_counts: toWireImageCounts(images),
    box_counts: total,
    classes: rows.sort((a, b) => changesOf(b) - changesOf(a) || b.same - a.same),
    matching: changed.length,
  };
}

export function isComplete(job: Job, other: Job, { unread }: JobChanges['images']): boolean {
  return job.completedAt !== null && other.completedAt !== null && unread === 0;
}

export function toWireImageCounts({
  onlyHere,
  onlyThere,
  notRun,
  ...counts
}: JobChanges['images']): z.infer<typeof imageCountsSchema> {
  return { ...counts, not_run: notRun, only_here: onlyHere, only_there: onlyThere };
}

function toWireImage(
  { pair, path, size, boxes }: ComparedImage,
  hide: HideFolders,
): ChangedImageBody {
  return {
    index: pair.index,
    with_index: pair.otherIndex,
    image_path: hide(path),
    image: size,
    ...countChanges(boxes),
    boxes: boxes.flatMap(({ change, ...box }) =>
      change === 'same' ? [] : [toWireComparedBox({ change, ...box })],
    ),
  };
}
