/** Image routes: methods, paths and every documented status. */
import { z, type RouteConfig } from '@hono/zod-openapi';
import { picture } from '../inference/detect.schema.js';
import { problemResponses } from '../problem.schema.js';
import type { RouteTable } from '../route-table.js';
import { PICTURE_TYPES } from '../uploads/uploads.js';
import type { ImageHandlers } from './image.handlers.js';
import { folderPageSchema, folderQuerySchema, pictureQuerySchema } from './image.schema.js';

const FOR_PAGES =
  'Answered to programs, to pages of this service and to pages of the origins in LATTICE_CORS_ORIGINS; 403 for other ' +
  'pages. 404 where LATTICE_BROWSE is false.';

const tags = ['Images'];

const list: RouteConfig = {
  method: 'get',
  path: '/v1/images',
  operationId: 'listImages',
  summary: 'Folders and images beneath the image roots',
  description:
    'One page of a folder, by name. Names that begin with a dot, symbolic links and files that are not named as ' +
    'images are left out, as in the folder of a job. A relative folder is looked up in every root; of entries of the ' +
    `same name the one of the first root is listed, which is the one that a detection opens. ${FOR_PAGES}`,
  tags,
  request: { query: folderQuerySchema },
  responses: {
    200: {
      description: 'A page of the folder',
      content: { 'application/json': { schema: folderPageSchema } },
    },
    ...problemResponses(
      'unauthorized',
      'not_found',
      'validation_failed',
      'path_not_allowed',
      'image_unreadable',
      'volume_unavailable',
      'overloaded',
      'internal_error',
    ),
  },
};

const file: RouteConfig = {
  method: 'get',
  path: '/v1/images/file',
  operationId: 'getImageFile',
  summary: 'An image, or a thumbnail of it',
  description:
    'The file as it is, opened by the rules of detection, or with `width` an upright JPEG without metadata. Its ' +
    `Content-Type is that of the format found in the file. ${FOR_PAGES}`,
  tags,
  request: { query: pictureQuerySchema },
  responses: {
    200: {
      description: 'The image',
      headers: z.object({ ETag: z.string(), 'Cache-Control': z.string() }),
      content: Object.fromEntries(PICTURE_TYPES.map((type) => [type, { schema: picture }])),
    },
    304: { description: 'Unchanged since the version in If-None-Match' },
    ...problemResponses(
      'unauthorized',
      'not_found',
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
      'overloaded',
      'shutting_down',
      'internal_error',
    ),
  },
};

export function addImageRoutes(table: RouteTable, handlers: ImageHandlers): void {
  table.add(list, handlers.list);
  table.add(file, handlers.file);
}
