/** A job that has ended -> what an export is written from, and the headers of the answer. */
import { z } from '@hono/zod-openapi';
import type { ExportSource } from '../../export/export-source.js';
import {
  FORMATS,
  RESULT_FORMATS,
  type ExportFormat,
  type ResultFormat,
} from '../../export/formats.js';
import { relativeName } from '../../export/relative-name.js';
import type { Job } from '../../jobs/job.js';
import type { AppDeps } from '../app-deps.js';
import type { HideFolders } from '../problem.js';
import { shorten, validate } from '../validation.js';
import { viewEntry } from './result-view.js';

export const exportQuerySchema = z.object({
  format: z
    .enum(RESULT_FORMATS, {
      error: ({ input }) => `'${shorten(String(input))}' is none of ${RESULT_FORMATS.join(', ')}.`,
    })
    .optional()
    .openapi({ description: 'json: the record, as the schema says', default: 'json' }),
});

export const exportHeadersSchema = z.object({
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

/** Throws `validation_failed` for a format that does not exist. */
export function readFormat({ format = [] }: Record<string, string[]>): ResultFormat {
  const given = format.length > 1 ? format.join(',') : format[0];
  return validate(exportQuerySchema, { format: given }, null).format ?? 'json';
}

/** Rejects when the models cannot be listed: without them the numbers of classes would differ from export to export. */
export async function exportSource(
  job: Job,
  { jobs, detector }: Pick<AppDeps, 'jobs' | 'detector'>,
  hide: HideFolders,
): Promise<ExportSource> {
  const { modelName } = job.spec.options;
  const model = (await detector.models()).find(({ name }) => name === modelName);
  return {
    jobId: job.jobId,
    model: modelName,
    classes: model?.classes ?? [],
    fileName: (path) => relativeName(hide(path)),
    pages: async function* () {
      for await (const page of jobs.imagePages(job.jobId)) {
        yield page.map((entry) => viewEntry(job, entry, hide));
      }
    },
  };
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
