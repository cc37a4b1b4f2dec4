/** `/v1/uploads`: photos of one's own for a job, one request per file. */
import { z } from '@hono/zod-openapi';
import { LatticeError, refuseWhileStopping, type ErrorCode } from '../../api/errors.js';
import { UPLOAD_STATES, type Upload } from '../../uploads/uploads.js';
import { environmentName } from '../../settings/config.js';
import type { AppContext } from '../app-env.js';
import { replyJson, replyRaw } from '../answer/reply.js';
import { readJson } from '../request/json-body.js';
import { readQuery, wholeNumber } from '../request/query.js';
import { bodyOf, declaredBytes, refuseCoding } from '../request/read-body.js';
import { validate, validationFailed } from '../request/validation.js';
import { binary, json, type AddRoute, type RouteSpec } from '../route.js';
import type { RouteParts } from '../route-parts.js';
import { timestampSchema, uploadIdSchema } from '../../answers/job-fields.js';

/** Limit for messages and documents, in characters and not in bytes of a file system. */
const LONGEST_NAME = 4_096;

/** A folder has other files beside its photos. */
const MOST_PLANNED = 100_000;

const plannedFileSchema = z.strictObject({
  name: z.string().max(LONGEST_NAME).openapi({
    description: 'As its path shall read in results: a relative path of plain parts',
    example: 'holiday/IMG_0001.jpg',
  }),
  bytes: z.int().min(0).nullish(),
});

const uploadPlanSchema = z
  .strictObject({
    files: z.array(plannedFileSchema).nullish().openapi({
      description:
        'What is going to be sent: the answer says which of it is left out, and whether all of it has room',
    }),
  })
  .openapi('UploadPlan', {
    example: { files: [{ name: 'holiday/IMG_0001.jpg', bytes: 4_213_880 }] },
  });

const uploadShape = {
  upload_id: uploadIdSchema,
  state: z.enum(UPLOAD_STATES).openapi({
    description:
      'waiting: no job has it yet; in_use: a job has it; ended: its job is gone, and it is about to be removed',
  }),
  created_at: timestampSchema
    .nullable()
    .openapi({ description: 'Null for one of an earlier release' }),
  expires_at: timestampSchema.nullable().openapi({
    description: 'When it is removed unless it is used before; null once a job has it',
  }),
  files: z.int().openapi({ description: 'Files that it has' }),
  bytes: z.int().openapi({ format: 'int64', description: 'What they take on disk' }),
  free_bytes: z.int().openapi({
    format: 'int64',
    description: 'Room for more, of all uploads together: LATTICE_UPLOADS_MAX_MB',
  }),
};

const uploadSchema = z.object(uploadShape).openapi('Upload');

const uploadListSchema = z
  .object({
    uploads: z.array(uploadSchema),
    next_cursor: z.string().nullable().openapi({ description: 'Null at the end' }),
  })
  .openapi('UploadList');

const uploadsQuerySchema = z.strictObject({
  limit: wholeNumber('A limit', 1, 100).default(20).openapi({ default: 20 }),
  cursor: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .openapi({ description: 'next_cursor of the page before' }),
});

const newUploadSchema = z
  .object({
    ...uploadShape,
    left_out: z
      .array(
        z
          .object({
            name: z.string(),
            kind: z.string().openapi({ example: 'HEIC' }),
            detail: z.string(),
          })
          .openapi('LeftOutFile'),
      )
      .openapi({
        description:
          'Files of the plan that are not taken, told by their names and sizes: do not send them',
      }),
  })
  .openapi('NewUpload');

const storedFileSchema = z
  .object({ name: z.string(), bytes: z.int().openapi({ format: 'int64' }) })
  .openapi('UploadedFile');

export type UploadPlanBody = z.infer<typeof uploadPlanSchema>;
export type UploadBody = z.infer<typeof uploadSchema>;
export type UploadListBody = z.infer<typeof uploadListSchema>;
export type NewUploadBody = z.infer<typeof newUploadSchema>;
export type UploadedFileBody = z.infer<typeof storedFileSchema>;

const fileQuerySchema = z.strictObject({
  modified_at: z
    .string()
    .regex(/^\d{1,11}(?:\.\d+)?$/, { error: 'modified_at is Unix seconds.' })
    .transform(Number)
    .optional()
    .openapi({
      type: 'number',
      format: 'double',
      minimum: 0,
      description:
        'When the file was last changed, in Unix seconds: counts by time use it where it has no other',
    }),
});

const params = z.object({ upload_id: uploadIdSchema });
const errors = ['upload_not_found', 'storage_unavailable'] as const satisfies ErrorCode[];

const CREATE: RouteSpec = {
  method: 'post',
  path: '/v1/uploads',
  operationId: 'createUpload',
  summary: 'Make room for photos of a job',
  description:
    'For photos that do not lie in the image folders: send each with `PUT`, then submit a job with `upload`. Without a ' +
    'body the room is empty and nothing is said of files beforehand. An upload that no job takes is removed an hour ' +
    'after its last use; one that a job took goes with the job.',
  tags: ['Uploads'],
  request: { body: { content: { 'application/json': { schema: uploadPlanSchema } } } },
  answers: { 201: json('The new upload', newUploadSchema) },
  errors: ['not_found', 'rate_limited', 'uploads_full', 'storage_unavailable', 'shutting_down'],
};

const LIST: RouteSpec = {
  method: 'get',
  path: '/v1/uploads',
  operationId: 'listUploads',
  summary: 'List uploads, newest first',
  description:
    'One page of the uploads of the API key, with those that jobs have. `next_cursor` gives the next.',
  tags: ['Uploads'],
  request: { query: uploadsQuerySchema },
  answers: { 200: json('One page', uploadListSchema) },
  errors: ['storage_unavailable'],
};

const GET: RouteSpec = {
  method: 'get',
  path: '/v1/uploads/{upload_id}',
  operationId: 'getUpload',
  summary: 'An upload',
  description: 'How many files it has so far, and until when it waits for a job.',
  tags: ['Uploads'],
  request: { params },
  answers: { 200: json('The upload as it is now', uploadSchema) },
  errors,
};

const PUT_FILE: RouteSpec = {
  method: 'put',
  path: '/v1/uploads/{upload_id}/{name}',
  slashesIn: 'name',
  operationId: 'putUploadedFile',
  summary: 'Send a photo of an upload',
  description:
    'The body is the file itself; its Content-Type is not read, as the format is found in the first bytes. The name is ' +
    'a relative path: `/` may be written as it is or as `%2F`. A file of the same name is replaced, so that a request ' +
    'can be repeated. What is no picture that is read is refused with `unsupported_image_format` and counted in ' +
    '`left_out` of the job. The answer comes when the file is on disk.',
  tags: ['Uploads'],
  request: {
    params: z.object({
      upload_id: uploadIdSchema,
      name: z.string().openapi({ example: 'holiday/IMG_0001.jpg' }),
    }),
    query: fileQuerySchema,
    body: { required: true, content: { 'application/octet-stream': { schema: binary } } },
  },
  answers: {
    200: json('The file took the place of another one', storedFileSchema),
    201: json('The new file', storedFileSchema),
  },
  errors: [
    ...errors,
    'bad_request',
    'not_found',
    'upload_in_use',
    'uploads_full',
    'unsupported_media_type',
    'unsupported_image_format',
    'image_too_large',
    'shutting_down',
  ],
};

const DELETE: RouteSpec = {
  method: 'delete',
  path: '/v1/uploads/{upload_id}',
  operationId: 'deleteUpload',
  summary: 'Remove an upload',
  description: 'Removes its files at once. One that a job has is removed with the job.',
  tags: ['Uploads'],
  request: { params },
  answers: { 204: { description: 'Removed' } },
  errors: [...errors, 'upload_in_use'],
};

export function uploadRoutes(route: AddRoute, parts: RouteParts): void {
  const { config, uploads } = parts;
  const refuse = (): void => {
    refuseWhileStopping(parts);
    if (!config.acceptImages) {
      const setting = `${environmentName('acceptImages')}=false`;
      throw new LatticeError(
        'not_found',
        `This service takes no pictures in requests (${setting}).`,
      );
    }
  };
  route(CREATE, async (c) => {
    refuse();
    const value = hasBody(c) ? await readJson(c, config.maxBodyBytes) : {};
    refuseLongPlan(value);
    const { files } = validate(uploadPlanSchema, value);
    const planned = (files ?? []).map(({ name, bytes }) => ({ name, bytes: bytes ?? undefined }));
    const { upload, leftOut } = await uploads.create(planned, c.get('keyId'));
    const body: NewUploadBody = { ...toWire(upload), left_out: leftOut };
    return replyJson(c, 201, body, { location: `/v1/uploads/${upload.uploadId}` });
  });
  route(LIST, async (c) => {
    const { limit, cursor = null } = readQuery(uploadsQuerySchema, c.req.queries());
    const page = await uploads.list(c.get('keyId'), { limit, cursor });
    const body: UploadListBody = {
      uploads: page.uploads.map(toWire),
      next_cursor: page.nextCursor,
    };
    return replyJson(c, 200, body);
  });
  route(GET, async (c) => replyJson(c, 200, toWire(await uploads.get(idOf(c), c.get('keyId')))));
  route({ ...PUT_FILE, maxBodyBytes: config.maxFileBytes }, async (c) => {
    refuse();
    refuseCoding(c);
    refuseRange(c);
    const { modified_at: modifiedAt = null } = readQuery(fileQuerySchema, c.req.queries());
    const name = c.req.param('name') ?? '';
    const { bytes, replaced } = await uploads.write(idOf(c), c.get('keyId'), {
      name,
      body: bodyOf(c),
      bytes: declaredBytes(c),
      modifiedAt,
    });
    const body: UploadedFileBody = { name, bytes };
    return replyJson(c, replaced ? 200 : 201, body);
  });
  route(DELETE, async (c) => {
    await uploads.remove(idOf(c), c.get('keyId'));
    return replyRaw(c, 204, null, {});
  });
}

/**
 * Refuses a long plan before its items are checked: an issue for each item would take far more memory than the body.
 */
function refuseLongPlan(value: unknown): void {
  const files: unknown = typeof value === 'object' && value && Reflect.get(value, 'files');
  if (!Array.isArray(files) || files.length <= MOST_PLANNED) return;
  const detail = `files has more than ${MOST_PLANNED} items.`;
  throw validationFailed([{ detail, pointer: '#/files' }]);
}

function idOf(c: AppContext): string {
  return c.req.param('upload_id') ?? '';
}

/** Refuses a part of a file: it would replace the whole file and be lost work. RFC 9110, 14.5 asks for 400. */
function refuseRange(c: AppContext): void {
  if (c.req.header('content-range') === undefined) return;
  throw new LatticeError(
    'bad_request',
    'Send the whole file in one request, without Content-Range.',
  );
}

/** A request without a body has neither header. */
function hasBody(c: AppContext): boolean {
  return (declaredBytes(c) ?? 0) > 0 || c.req.header('transfer-encoding') !== undefined;
}

function toWire({
  uploadId,
  state,
  createdAt,
  expiresAt,
  files,
  bytes,
  ...rest
}: Upload): UploadBody {
  return {
    upload_id: uploadId,
    state,
    created_at: createdAt,
    expires_at: expiresAt,
    files,
    bytes,
    free_bytes: rest.freeBytes,
  };
}
