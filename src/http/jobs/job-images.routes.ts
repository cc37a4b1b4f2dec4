/** Routes of a job's images: what a view of the job needs, however many images it has. */
import { json, type AddRoute } from '../route.js';
import type { RouteParts } from '../route-parts.js';
import { JOB_ERRORS, params } from '../routes/jobs/job-of-path.js';
import { createJobImagesHandlers } from './job-images.handlers.js';
import { imagesQuerySchema, jobImagesSchema, jobSummarySchema } from './job-images.schema.js';

export function jobImageRoutes(route: AddRoute, parts: RouteParts): void {
  const { images, summary } = createJobImagesHandlers(parts, parts.hide);
  route(
    {
      method: 'get',
      path: '/v1/jobs/{job_id}/images',
      operationId: 'listJobImages',
      summary: 'A page of the images of a job',
      description:
        'In input order, also while the job runs. A page has at most `limit` images and about 128 KiB of boxes, so it may ' +
        'have fewer: `next_offset` gives the next. Any offset can be asked for. The filters hold together.',
      tags: ['Jobs'],
      request: { params, query: imagesQuerySchema },
      answers: { 200: json('One page', jobImagesSchema) },
      errors: JOB_ERRORS,
    },
    images,
  );
  route(
    {
      method: 'get',
      path: '/v1/jobs/{job_id}/summary',
      operationId: 'getJobSummary',
      summary: 'A job in figures',
      description:
        'Images by outcome, boxes by class and confidence, and what was asked for; also while the job runs. It takes the ' +
        'same time for boxes of any number.',
      tags: ['Jobs'],
      request: { params },
      answers: { 200: json('The figures so far', jobSummarySchema) },
      errors: JOB_ERRORS,
    },
    summary,
  );
}
