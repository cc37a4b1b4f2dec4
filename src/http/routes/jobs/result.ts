/** `GET /v1/jobs/{job_id}/result`: the record of a job that has ended, or a file that is written from it. */
import { z } from '@hono/zod-openapi';
import {
  relativeName,
  type ExportedImage,
  type ExportSource,
} from '../../../export/export-source.js';
import { FORMATS, RESULT_FORMATS, type ExportFormat } from '../../../export/formats.js';
import type { HideFolders } from '../../../answers/shown-problem.js';
import type { JobImages } from '../../../jobs/stored-images.js';
import type { Job } from '../../../store/job.js';
import { replyPieces } from '../../answer/reply.js';
import { binary, type AddRoute } from '../../route.js';
import type { RouteParts } from '../../route-parts.js';
import { shorten, validate, validationFailed } from '../../request/validation.js';
import { cameraRule, pictureShape } from './count-texts.js';
import { JOB_ERRORS, notFinished, params } from './job-of-path.js';
import { ASKS_AGAIN, askedRequest, QUESTION_ERRORS, questionShape } from './question.js';
import { jobResultSchema, resultText, toWireEntry } from '../../../answers/result-record.js';

export const exportQuerySchema = z.strictObject({
  format: z
    .enum(RESULT_FORMATS, {
      error: ({ input }) => `'${shorten(String(input))}' is none of ${RESULT_FORMATS.join(', ')}.`,
    })
    .optional()
    .openapi({ description: 'json: the record, as the schema says', default: 'json' }),
  camera: pictureShape.camera,
  camera_pattern: pictureShape.camera_pattern,
  static: pictureShape.static.openapi({
    description:
      'Boxes of vehicles that stand: in one place of a camera in several images, over minutes. `exclude`: they are left ' +
      'out; `only`: no others are there. With any of them each box has `static`, and one that stands has `stay`',
  }),
});

const exportHeadersSchema = z.object({
  'Content-Disposition': z.string().optional().openapi({
    description: 'File name of an export',
    example: 'attachment; filename="job_1.csv"',
  }),
  'X-Lattice-Failed-Images': z.coerce
    .number()
    .int()
    .optional()
    .openapi({ description: 'With an export: how many images of the job have no boxes in it' }),
});

export function resultRoutes(route: AddRoute, parts: RouteParts): void {
  const { hide, logger } = parts;
  route(
    {
      method: 'get',
      path: '/v1/jobs/{job_id}/result',
      operationId: 'getJobResult',
      summary: 'Result of a finished job',
      description:
        'A long result is sent in chunks while it is read, without Content-Length. A connection that breaks off before ' +
        'the last chunk has sent no JSON: ask again. The schema is that of `format=json`; docs/exports.md describes the ' +
        `other formats, which come as a file to save. ${ASKS_AGAIN}`,
      tags: ['Jobs'],
      request: { params, query: exportQuerySchema.extend(questionShape) },
      answers: {
        200: {
          description: 'The job has ended, completed or failed',
          headers: exportHeadersSchema,
          content: {
            'application/json': { schema: jobResultSchema },
            'text/csv': { schema: z.string() },
            'application/x-ndjson': { schema: z.string() },
            'application/zip': { schema: binary },
            'application/geo+json': { schema: z.string() },
            'application/vnd.apache.parquet': { schema: binary },
          },
        },
      },
      errors: [...JOB_ERRORS, ...QUESTION_ERRORS, 'job_not_finished'],
      // The archive has labels and no picture.
      pages: 'reads',
    },
    async (c) => {
      const { query, hasQuestion, ask } = askedRequest(c);
      const { format = 'json', static: choice, ...cameras } = readExport(query, hasQuestion);
      const standing = choice && { camera: cameraRule(cameras), static: choice };
      const { job, images } = await ask(parts, undefined, standing);
      if (job.status === 'pending' || job.status === 'running') throw notFinished(job);
      const onBroken = (error: unknown): void => {
        const fields = { err: error, job_id: job.jobId, request_id: c.get('requestId') };
        logger.error(fields, 'result broken off');
      };
      if (format !== 'json') {
        const source = { ...(await exportSource(job, images, parts)), standing: !!standing };
        const pieces = FORMATS[format].write(source);
        return replyPieces(c, 200, pieces, onBroken, exportHeaders(job, format));
      }
      return replyPieces(c, 200, resultText(job, images.imagePages(job.jobId), hide), onBroken);
    },
  );
}

/**
 * Throws `validation_failed` for a format that does not exist, and beside a question for a parameter that does not: it
 * may be a misspelt part of the question.
 */
function readExport(query: Record<string, string[]>, hasQuestion: boolean) {
  const known = Object.keys(exportQuerySchema.shape).map(
    (name) => [name, query[name]?.join(',')] as const,
  );
  const all: object = { ...(hasQuestion ? query : {}), ...Object.fromEntries(known) };
  const read = validate(exportQuerySchema, all, null);
  const { camera, camera_pattern: pattern } = read;
  if ((camera ?? pattern) !== undefined && read.static === undefined) {
    throw validationFailed([{ detail: 'camera needs static.' }]);
  }
  return read;
}

/** Rejects when the models cannot be listed: without them the numbers of classes would differ from export to export. */
export async function exportSource(
  job: Job,
  images: Pick<JobImages, 'imagePages'>,
  { detector, hide }: Pick<RouteParts, 'detector' | 'hide'>,
): Promise<ExportSource> {
  // An alias stands for another model by now, perhaps.
  const modelName = job.models.at(-1)?.name ?? job.spec.options.modelName;
  const model = (await detector.models()).find(({ name }) => name === modelName);
  return {
    jobId: job.jobId,
    model: modelName,
    classes: model?.classes ?? [],
    fileName: (path) => relativeName(hide(path)),
    pages: () => exportPages(job, images, hide),
  };
}

export async function* exportPages(
  job: Job,
  images: Pick<JobImages, 'imagePages'>,
  hide: HideFolders,
): AsyncGenerator<ExportedImage[], void> {
  for await (const page of images.imagePages(job.jobId)) {
    yield page.map((entry) => {
      const { taken } = entry;
      return { ...toWireEntry(job, entry, hide), ...(taken && { taken_at: taken }) };
    });
  }
}

/** The count of images without boxes is known before the first page is read: the job's own figures. */
export function exportHeaders(
  { jobId, imageCount, finishedImages, failedImages }: Job,
  format: ExportFormat,
): Record<string, string> {
  const { contentType, ending } = FORMATS[format];
  return {
    'content-type': contentType,
    'content-disposition': `attachment; filename="${jobId}${ending}"`,
    'x-lattice-failed-images': String(imageCount - finishedImages + failedImages),
  };
}
