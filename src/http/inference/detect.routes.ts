/** The synchronous route: path and every documented status. */
import { z } from '@hono/zod-openapi';
import { errorsOf } from '../../api/errors.js';
import { json, type AddRoute } from '../route.js';
import type { RouteParts } from '../route-parts.js';
import { FORM_TYPE, PICTURE_TYPES } from '../uploads/uploads.js';
import { createDetectHandler } from './detect.handler.js';
import {
  detectFormSchema,
  detectRequestSchema,
  detectResponseSchema,
  picture,
  textOptions,
} from './detect.schema.js';

export function detectRoutes(route: AddRoute, parts: RouteParts): void {
  route(
    {
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
      answers: {
        200: {
          ...json('Detected', detectResponseSchema),
          headers: z.object({
            'Server-Timing': z.string().openapi({
              description: 'timings_ms and the total, as browsers show them',
              example: 'queue;dur=0.10, decode;dur=2.10, total;dur=15.80',
            }),
          }),
        },
      },
      errors: errorsOf('image', 'model', 'worker', 'detector'),
    },
    createDetectHandler(parts, parts.catalogue, parts.uploads),
  );
}
