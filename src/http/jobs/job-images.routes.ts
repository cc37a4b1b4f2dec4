/** Routes of a job's images: what a view of the job needs, however many images it has. */
import type { RouteConfig } from '@hono/zod-openapi';
import { problemResponses } from '../problem.schema.js';
import type { RouteTable } from '../route-table.js';
import type { JobImagesHandlers } from './job-images.handlers.js';
import { imagesQuerySchema, jobImagesSchema, jobSummarySchema } from './job-images.schema.js';
import { params } from './job.routes.js';

const tags = ['Jobs'];

const images: RouteConfig = {
  method: 'get',
  path: '/v1/jobs/{job_id}/images',
  operationId: 'listJobImages',
  summary: 'A page of the images of a job',
  description:
    'In input order, also while the job runs. A page has at most `limit` images and about 128 KiB of boxes, so it may ' +
    'have fewer: `next_offset` gives the next. Any offset can be asked for. The filters hold together.',
  tags,
  request: { params, query: imagesQuerySchema },
  responses: {
    200: {
      description: 'One page',
      content: { 'application/json': { schema: jobImagesSchema } },
    },
    ...problemResponses(
      'unauthorized',
      'validation_failed',
      'job_not_found',
      'internal_error',
      'storage_unavailable',
    ),
  },
};

const summary: RouteConfig = {
  method: 'get',
  path: '/v1/jobs/{job_id}/summary',
  operationId: 'getJobSummary',
  summary: 'A job in figures',
  description:
    'Images by outcome, boxes by class and confidence, and what was asked for; also while the job runs. It takes the ' +
    'same time for boxes of any number.',
  tags,
  request: { params },
  responses: {
    200: {
      description: 'The figures so far',
      content: { 'application/json': { schema: jobSummarySchema } },
    },
    ...problemResponses('unauthorized', 'job_not_found', 'internal_error', 'storage_unavailable'),
  },
};

export function addJobImagesRoutes(table: RouteTable, handlers: JobImagesHandlers): void {
  table.add(images, handlers.images);
  table.add(summary, handlers.summary);
}
