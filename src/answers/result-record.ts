/** The result record of a job that has ended: its shape, its text for an answer, and the message of its webhook. */
import { z } from '@hono/zod-openapi';
import { LatticeError, type Problem } from '../api/errors.js';
import { toWireFigures } from '../api/job-figures.js';
import { withMember } from '../base/json-text.js';
import { toMicros } from '../base/rounded.js';
import { notRunImages, type ImageEntry, type ImageOutcome, type Job } from '../store/job.js';
import { countCars, RegionSums } from '../boxes/class-counts.js';
import { regionCountsSchema } from '../api/schemas/image.js';
import { imageFields, toWireImage } from './processed-image.js';
import {
  EXAMPLE_JOB_ID,
  figureFields,
  reusedFromSchema,
  modelUsesSchema,
  toWireModelUses,
  jobIdSchema,
  notRunSchema,
  stateSchema,
  timestampSchema,
} from './job-fields.js';
import { hideInProblem, type HideFolders } from './shown-problem.js';
import { problemSchema } from './problem-schema.js';

/**
 * The longest images of a record: with all other fields the message stays below 1 MiB, the limit of common web servers.
 */
const MAX_IMAGES_BYTES = 960_000;

const jobImageFields = { ...imageFields, reused_from: reusedFromSchema.optional() };

const singleResultSchema = z
  .object({ image_path: z.string(), ...jobImageFields, model: z.string(), worker_id: z.string() })
  .openapi('SingleImageResult');

export const processedImageSchema = z
  .object({
    image_path: z.string(),
    status: z.literal('ok'),
    ...jobImageFields,
    worker_id: z.string(),
  })
  .openapi('ProcessedImage');

export const failedImageSchema = z
  .object({ image_path: z.string(), status: z.literal('error'), error: problemSchema })
  .openapi('FailedImage');

const imageEntrySchema = z
  .discriminatedUnion('status', [processedImageSchema, failedImageSchema])
  .openapi('ImageEntry');

const totalsSchema = z
  .object({
    car_count: z.int(),
    total_count: z.int(),
    class_counts: z.record(z.string(), z.int()),
    region_counts: regionCountsSchema.optional(),
    succeeded: z.int(),
    failed: z.int(),
    not_run: notRunSchema,
    processing_time_ms: z.number().openapi({ description: 'From start to end of the job' }),
    model: z.string(),
    worker_id: z.string().openapi({ description: 'Who ran the image that was stored last' }),
  })
  .openapi('MultiImageTotals');

// Made from the shapes, because a schema made by `extend` is documented as the parent and more, and the parent may
// forbid more.
const multiResultSchema = z
  .object({
    images: z.array(imageEntrySchema).openapi({ description: 'One entry per input, same order' }),
    ...totalsSchema.shape,
  })
  .openapi('MultiImageResult');

export const jobResultSchema = z
  .object({
    job_id: jobIdSchema,
    status: stateSchema,
    ...figureFields,
    not_run_images: notRunSchema,
    models: modelUsesSchema,
    result: z.union([singleResultSchema, multiResultSchema, z.null()]),
    error: z.union([problemSchema, z.null()]),
    submitted_at: timestampSchema,
    completed_at: timestampSchema,
    // A union, because many generators lose the null of a map whose type is a list.
    metadata: z.union([z.record(z.string(), z.unknown()), z.null()]),
  })
  .openapi('JobResult');

/** The body of a webhook in place of a record that is too long for one message. */
export const jobDigestSchema = z
  .object({
    ...jobResultSchema.shape,
    result: totalsSchema,
    result_url: z.string().openapi({
      description: 'Path of the whole record, with `images`',
      example: `/v1/jobs/${EXAMPLE_JOB_ID}/result`,
    }),
  })
  .openapi('JobResultDigest');

export type SingleResultBody = z.infer<typeof singleResultSchema>;
export type MultiResultBody = z.infer<typeof multiResultSchema>;
export type ImageEntryBody = z.infer<typeof imageEntrySchema>;
export type JobResultBody = z.infer<typeof jobResultSchema>;
type JobDigestBody = z.infer<typeof jobDigestSchema>;

function toWireJobImage(outcome: Extract<ImageOutcome, { status: 'ok' }>) {
  const image = toWireImage(outcome, outcome.annotatedPath);
  if (outcome.reusedFrom === undefined) return image;
  const { jobId, index } = outcome.reusedFrom;
  return { ...image, reused_from: { job_id: jobId, index } };
}

/** The result of a job of one image. It is null when the image gave no boxes; `error` of the record says why. */
function toWireSingle(job: Job, { path, outcome }: ImageEntry): SingleResultBody | null {
  if (outcome?.status !== 'ok') return null;
  return {
    image_path: path,
    ...toWireJobImage(outcome),
    model: job.spec.options.modelName,
    worker_id: outcome.workerId ?? job.workerId,
  };
}

/**
 * The record of a job as JSON text, one piece per page. A page is read when its piece is requested. Throws what `pages`
 * throws; the pieces until then are not valid JSON.
 */
export async function* resultText(
  job: Job,
  pages: AsyncIterable<readonly ImageEntry[]>,
  hide: HideFolders,
): AsyncGenerator<string, void> {
  const tally = new Tally();
  let text = `{${headText(job)},"result":{"images":[`;
  let count = 0;
  for await (const page of pages) {
    for (const entry of page) {
      if (job.imageCount === 1) {
        yield recordText(job, toWireSingle(job, entry), hide);
        return;
      }
      const image = toWireEntry(job, entry, hide);
      tally.add(image, entry);
      text += `${count === 0 ? '' : ','}${JSON.stringify(image)}`;
      count += 1;
    }
    // The last piece waits for the end, so that one page makes one piece.
    if (count >= job.imageCount) continue;
    yield text;
    text = '';
  }
  yield `${text}],${fieldsOf(tally.totals(job))}},${tailText(job, hide)}}`;
}

function recordText(job: Job, result: object | null, hide: HideFolders): string {
  return `{${headText(job)},"result":${JSON.stringify(result)},${tailText(job, hide)}}`;
}

/** The fields of an object as JSON without the braces. */
function fieldsOf(value: object): string {
  return JSON.stringify(value).slice(1, -1);
}

/** The fields before `result`. */
function headText(job: Job): string {
  const head = {
    job_id: job.jobId,
    status: job.status,
    ...toWireFigures(job),
    not_run_images: notRunImages(job),
    models: toWireModelUses(job),
  };
  return fieldsOf(head satisfies Partial<JobResultBody>);
}

/** The fields after `result`. */
function tailText(job: Job, hide: HideFolders): string {
  const tail = {
    error: job.error === null ? null : hideInProblem(job.error, hide),
    submitted_at: job.submittedAt,
    completed_at: job.completedAt ?? job.submittedAt,
  };
  return withMetadata(tail satisfies Partial<JobResultBody>, job).slice(1, -1);
}

/** The JSON of the fields and `metadata` as it was sent. */
export function withMetadata(fields: object, { spec: { metadata } }: Job): string {
  return withMember(fields, 'metadata', metadata ?? 'null');
}

export function toWireEntry(
  job: Job,
  { path, outcome }: ImageEntry,
  hide: HideFolders,
): ImageEntryBody {
  if (outcome?.status === 'ok') {
    return {
      image_path: path,
      status: 'ok',
      ...toWireJobImage(outcome),
      worker_id: outcome.workerId ?? job.workerId,
    };
  }
  return {
    image_path: path,
    status: 'error',
    error: hideInProblem(outcome?.error ?? notProcessed(job), hide),
  };
}

/** Adds images up one by one, so that they need not be in memory together. */
class Tally {
  readonly #classes = new Map<string, number>();
  readonly #regions = new RegionSums();
  #total = 0;
  #succeeded = 0;
  #failed = 0;
  #notRun = 0;

  add(entry: ImageEntryBody, { outcome }: ImageEntry): void {
    if (entry.status === 'error') {
      if (outcome === null) this.#notRun += 1;
      else this.#failed += 1;
      return;
    }
    this.#succeeded += 1;
    this.#total += entry.total_count;
    this.#regions.add(entry.region_counts);
    for (const [name, count] of Object.entries(entry.class_counts)) {
      this.#classes.set(name, (this.#classes.get(name) ?? 0) + count);
    }
  }

  totals(job: Job): Omit<MultiResultBody, 'images'> {
    const startedAt = job.startedAt ?? job.submittedAt;
    return {
      car_count: countCars(this.#classes),
      total_count: this.#total,
      class_counts: Object.fromEntries(this.#classes),
      region_counts: this.#regions.counts,
      succeeded: this.#succeeded,
      failed: this.#failed,
      not_run: this.#notRun,
      processing_time_ms: toMicros(
        Math.max(0, ((job.completedAt ?? startedAt) - startedAt) * 1000),
      ),
      model: job.spec.options.modelName,
      worker_id: job.workerId,
    };
  }
}

/** The job ended before this image had its turn. */
function notProcessed(job: Job): Problem {
  return job.error ?? new LatticeError('cancelled', 'The job ended first.').toProblem();
}

/**
 * The result record of an ended job as JSON text; where its images are too long, the record without them and with
 * `result_url`.
 */
export async function webhookRecord(
  job: Job,
  pages: AsyncIterable<readonly ImageEntry[]>,
  hide: HideFolders,
): Promise<string> {
  const tally = new Tally();
  let images: ImageEntryBody[] | null = [];
  let bytes = 0;
  for await (const page of pages) {
    for (const entry of page) {
      if (job.imageCount === 1) return recordText(job, toWireSingle(job, entry), hide);
      const image = toWireEntry(job, entry, hide);
      tally.add(image, entry);
      if (images === null) continue;
      images.push(image);
      bytes += Buffer.byteLength(JSON.stringify(image)) + 1;
      if (bytes > MAX_IMAGES_BYTES) images = null;
    }
  }
  const totals = tally.totals(job);
  if (images !== null) return recordText(job, { images, ...totals }, hide);
  const link = { result_url: `/v1/jobs/${encodeURIComponent(job.jobId)}/result` };
  const digest = recordText(job, totals, hide).slice(0, -1);
  return `${digest},${fieldsOf(link satisfies Partial<JobDigestBody>)}}`;
}
