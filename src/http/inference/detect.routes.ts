/** The synchronous route: path and every documented status. */
import { z, type RouteConfig } from '@hono/zod-openapi';
import { problemResponses } from '../problem.schema.js';
import type { RouteHandler, RouteTable } from '../route-table.js';
import { detectRequestSchema, detectResponseSchema } from './detect.schema.js';

const detect: RouteConfig = {
  method: 'post',
  path: '/v1/inference/detect',
  operationId: 'detect',
  summary: 'Detect in one image and wait for the boxes',
  tags: ['Inference'],
  request: {
    body: { required: true, content: { 'application/json': { schema: detectRequestSchema } } },
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
