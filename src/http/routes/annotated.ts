/** `GET /v1/annotated/{file}`: images with their boxes drawn. */
import { z } from '@hono/zod-openapi';
import { LatticeError } from '../../api/errors.js';
import type { AppDeps } from '../app-deps.js';
import { replyRaw } from '../answer/reply.js';
import { binary, type AddRoute } from '../route.js';

const FILE = /^[\w-]{1,128}\.jpg$/;
const picture = { schema: binary };

export function annotatedRoutes(route: AddRoute, deps: AppDeps): void {
  route(
    {
      method: 'get',
      path: '/v1/annotated/{file}',
      operationId: 'getAnnotated',
      summary: 'A drawn copy, at its annotated_url',
      description:
        'The image with its boxes drawn, made by a request with `annotate`. Its name cannot be guessed, and another API ' +
        'key is answered 404. The copy is removed together with the job that it belongs to, at the latest after ' +
        'LATTICE_RESULT_TTL_HOURS.',
      tags: ['Inference'],
      request: { params: z.object({ file: z.string().openapi({ example: '3b6a1c2d4e5f.jpg' }) }) },
      answers: {
        200: {
          description: 'The drawn copy',
          content: { 'image/jpeg': picture },
        },
      },
      errors: ['not_found'],
    },
    async (c) => {
      const file = c.req.param('file') ?? '';
      const bytes = FILE.test(file) ? await deps.annotator.read(file, c.get('keyId')) : null;
      if (bytes === null) {
        throw new LatticeError('not_found', 'There is no such drawn copy.');
      }
      return replyRaw(c, 200, new Uint8Array(bytes), {
        'content-type': 'image/jpeg',
        'cache-control': 'private, max-age=3600, immutable',
      });
    },
  );
}
