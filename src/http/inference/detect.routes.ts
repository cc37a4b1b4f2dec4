/** The synchronous route: path and every documented status. */
import { z, type RouteConfig } from '@hono/zod-openapi';
import { problemResponses } from '../problem.schema.js';
import type { RouteHandler, RouteTable } from '../route-table.js';
import { FORM_TYPE, PICTURE_TYPES } from '../uploads/uploads.js';
import {
  detectFormSchema,
  detectRequestSchema,
  detectResponseSchema,
  picture,
  textOptions,
} from './detect.schema.js';

const detect: RouteConfig = {
  method: 'post',
  path: '/v1/inference/detect',
  operationId: 'detect',
  summary: 'Detect in one image and wait for the boxes',
  description:
    'Answers with the boxes of one image, before the images of all jobs. The body is JSON that names an image of the ' +
    'shared volume by its path, or the picture itself, alone or in the field `image` of a form. A picture alone has its ' +
    'options in the query, a form in its fields. Sent pictures are held in memory and not stored. A request that cannot ' +
    'be answered in time at the present rate is refused at once with `overloaded` and Retry-After; one that is not ' +
    'answered in time ends with `deadline_exceeded`.',
  tags: ['Inference'],
  request: {
    query: z.object(textOptions),
    body: {
      required: true,
      content: {
        'application/json': { schema: detectRequestSchema },
        ...Object.fromEntries(PICTURE_TYPES.map((type) => [type, { schema: picture }])),
        [FORM_TYPE]: { schema: detectFormSchema },
      },
    },
  },
  responses: {
    200: {
      description: 'Detected',
      headers: z.object({
        'Server-Timing': z.string().openapi({
          description: 'timings_ms and the total, as browsers show them',
          example: 'queue;dur=0.10, decode;dur=2.10, total;dur=15.80',
        }),
      }),
      content: { 'application/json': { schema: detectResponseSchema } },
    },
    ...problemResponses(
      'bad_json',
      'bad_request',
      'unauthorized',
      'body_too_large',
      'unsupported_media_type',
      'validation_failed',
      'path_not_allowed',
      'image_not_found',
      'not_a_regular_file',
      'image_unreadable',
      'image_too_large',
      'unsupported_image_format',
      'invalid_image',
      'input_changed',
      'volume_unavailable',
      'unknown_model',
      'invalid_model',
      'poison_input',
      'detection_failed',
      'worker_lost',
      'internal_error',
      'overloaded',
      'shutting_down',
      'model_not_ready',
      'gpu_unavailable',
      'gpu_lost',
      'cluster_unavailable',
      'deadline_exceeded',
    ),
  },
};

export function addDetectRoute(table: RouteTable, handler: RouteHandler): void {
  table.add(detect, handler);
}
