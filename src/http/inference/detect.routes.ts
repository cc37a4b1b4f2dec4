/** The synchronous route: path and every documented status. */
import type { RouteConfig } from '@hono/zod-openapi';
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
      'detection_failed',
      'internal_error',
      'overloaded',
      'shutting_down',
      'model_not_ready',
      'deadline_exceeded',
    ),
  },
};

export function addDetectRoute(table: RouteTable, handler: RouteHandler): void {
  table.add(detect, handler);
}
