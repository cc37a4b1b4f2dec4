/** `GET /v1/images` and `/v1/images/file`: folders and pictures beneath the image roots. */
import { webcrypto } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { z } from '@hono/zod-openapi';
import { errorsOf, LatticeError } from '../../api/errors.js';
import { readCursor, writeCursor } from '../../api/schemas/list-page.js';
import { Folders, type FolderListing } from '../../files/folders.js';
import { Pictures, THUMBNAIL_TYPE, type CropArea } from '../../files/pictures.js';
import { environmentName } from '../../settings/config.js';
import type { AppDeps } from '../app-deps.js';
import type { AppContext } from '../app-env.js';
import { readQuery, wholeNumber } from '../request/query.js';
import { replyJson, replyRaw } from '../answer/reply.js';
import { imagePathSchema, pathTextSchema } from '../request/request-fields.js';
import { binary, json, type AddRoute, type RouteSpec } from '../route.js';
import { BytesInHand } from '../request/bytes-in-hand.js';
import { PICTURE_TYPES } from '../request/picture-bodies.js';
import { uploadIdSchema } from '../../answers/job-fields.js';

/**
 * A browser keeps a picture for a minute, then asks whether it has changed. Shared caches must not keep it, and a
 * picture opened as a page must run no script.
 */
const PICTURE_HEADERS = {
  'cache-control': 'private, max-age=60',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
};

const WHERE_OFF = '404 where LATTICE_BROWSE is false.';

const MOST_ENTRIES = 1_000;
const DEFAULT_ENTRIES = 100;

export const folderQuerySchema = z.strictObject({
  under: pathTextSchema.default('').openapi({
    description: 'A folder, relative to an image root or absolute beneath one; empty: the roots',
    example: '2026/11',
  }),
  cursor: z
    .string()
    .max(2_048)
    .optional()
    .openapi({ description: 'next_cursor of the page before' }),
  limit: wholeNumber('A limit', 1, MOST_ENTRIES)
    .default(DEFAULT_ENTRIES)
    .openapi({ default: DEFAULT_ENTRIES }),
});

const pictureQuerySchema = z.strictObject({
  path: imagePathSchema,
  upload: uploadIdSchema
    .optional()
    .openapi({ description: 'The upload beneath which the path is; see the status of its job' }),
  width: wholeNumber('A width', 16, 2_048).optional().openapi({
    description:
      'Gives a thumbnail: a JPEG at most so many pixels wide, never larger than the image',
    example: 320,
  }),
  crop: z
    .string()
    .regex(/^\d{1,6}(?:,\d{1,6}){3}$/, { error: 'A crop is x1,y1,x2,y2 in whole pixels.' })
    .transform((text) => text.split(',').map(Number) as unknown as CropArea)
    .refine(([x1, y1, x2, y2]) => x2 > x1 && y2 > y1, { error: 'A crop has a width and a height.' })
    .optional()
    .openapi({
      type: 'string',
      description:
        'The part of the upright image that the thumbnail shows: x1,y1,x2,y2 in pixels. Beyond the image there is none',
      example: '48,120,311,288',
    }),
});

const pictureFileSchema = pictureQuerySchema.refine(
  ({ crop, width }) => crop === undefined || width !== undefined,
  {
    error: 'A crop comes as a thumbnail: give its width.',
    path: ['width'],
  },
);

const folderEntrySchema = z.object({
  type: z.enum(['folder', 'image']),
  name: z.string(),
  path: z
    .string()
    .openapi({ description: 'For `under` or `path` here, `image_path` and `image_paths`' }),
  bytes: z.int().optional().openapi({ format: 'int64', description: 'Of images' }),
  modified_at: z.number().optional().openapi({ format: 'double', description: 'Unix seconds' }),
});

const folderPageSchema = z
  .object({
    path: z.string().openapi({ description: 'The folder; empty for the roots' }),
    entries: z.array(folderEntrySchema.openapi('FolderEntry')),
    next_cursor: z.string().nullable(),
  })
  .openapi('FolderPage', {
    example: {
      path: '2026',
      entries: [
        { type: 'folder', name: '11', path: '2026/11', modified_at: 1_795_263_399.3 },
        {
          type: 'image',
          name: 'gate.jpg',
          path: '2026/gate.jpg',
          bytes: 184_320,
          modified_at: 1_795_263_399.3,
        },
      ],
      next_cursor: null,
    },
  });

export type FolderPageBody = z.infer<typeof folderPageSchema>;

const LIST: RouteSpec = {
  method: 'get',
  path: '/v1/images',
  operationId: 'listImages',
  summary: 'Folders and images beneath the image roots',
  description:
    'One page of a folder, by name. Names that begin with a dot, symbolic links that lead out of the image folders and ' +
    'files that are not named as images are left out, as in the folder of a job. A relative folder is looked up in ' +
    `every root; of entries of the same name the one of the first root is listed, which is the one that a detection opens. ${WHERE_OFF}`,
  tags: ['Images'],
  request: { query: folderQuerySchema },
  answers: { 200: json('A page of the folder', folderPageSchema) },
  pages: 'own',
  errors: [
    'not_found',
    'path_not_allowed',
    'image_unreadable',
    'volume_unavailable',
    'machine_overloaded',
    'overloaded',
  ],
};

const FILE: RouteSpec = {
  method: 'get',
  path: '/v1/images/file',
  operationId: 'getImageFile',
  summary: 'An image, or a thumbnail of it',
  description:
    'The file as it is, opened by the rules of detection, or with `width` an upright JPEG without metadata. Its ' +
    `Content-Type is that of the format found in the file. ${WHERE_OFF}`,
  tags: ['Images'],
  request: { query: pictureQuerySchema },
  answers: {
    200: {
      description: 'The image',
      headers: z.object({ ETag: z.string(), 'Cache-Control': z.string() }),
      content: Object.fromEntries(PICTURE_TYPES.map((type) => [type, { schema: binary }])),
    },
    304: { description: 'Unchanged since the version in If-None-Match' },
  },
  errors: [
    'not_found',
    'upload_not_found',
    ...errorsOf('image'),
    'volume_unavailable',
    'overloaded',
    'shutting_down',
  ],
};

export function imageRoutes(route: AddRoute, { config, detector, uploads }: AppDeps): void {
  const folders = new Folders(config.imageRoots);
  const pictures = new Pictures({ detector, config });
  const inHand = new BytesInHand(config);
  const refuseWhereOff = () => {
    if (config.browse) return;
    const setting = `${environmentName('browse')}=false`;
    throw new LatticeError(
      'not_found',
      `This service does not show its image folders (${setting}).`,
    );
  };
  route(LIST, async (c) => {
    refuseWhereOff();
    const { under, cursor, limit } = readQuery(folderQuerySchema, c.req.queries());
    const after = cursor === undefined ? '' : readCursor(cursor, 'a list', nameOf);
    return replyJson(c, 200, toWire(await folders.list(under, after, limit)));
  });
  route(FILE, async (c) => {
    const { path, width, crop, upload } = readQuery(pictureFileSchema, c.req.queries());
    // An upload is read by its sender only, whose picture it is.
    if (upload === undefined) refuseWhereOff();
    const share = inHand.open();
    try {
      const found = await pictures.read(path, async () => {
        if (upload === undefined) return detector.readImage(path);
        const picture = await uploads.read(upload, path, c.get('keyId'));
        picture.release();
        return picture.bytes;
      });
      share.add(found.bytes.length);
      const size = [width, ...(crop ?? [])].map((each) => (each === undefined ? '' : `-${each}`));
      const etag = `"${await digest(found.bytes)}${size.join('')}"`;
      const headers = { ...PICTURE_HEADERS, etag };
      if (isCurrent(c, etag)) return replyRaw(c, 304, null, headers);
      const small =
        width === undefined
          ? null
          : await pictures.thumbnail(found, { width, crop }, c.req.raw.signal);
      // The bytes lie in memory of their own, which is not shared between threads.
      return replyRaw(c, 200, (small ?? found.bytes) as Buffer<ArrayBuffer>, {
        ...headers,
        'content-type': small === null ? found.type : THUMBNAIL_TYPE,
      });
    } finally {
      whenAnswered(c, () => {
        share.release();
      });
    }
  });
}

function toWire({ path, entries, next }: FolderListing): FolderPageBody {
  return {
    path,
    entries: entries.map(({ name, path: entryPath, isFolder, status }) => ({
      type: isFolder ? 'folder' : 'image',
      name,
      path: entryPath,
      ...(isFolder || status === null ? {} : { bytes: status.bytes }),
      ...(status === null ? {} : { modified_at: status.modifiedAt }),
    })),
    next_cursor: next === null ? null : writeCursor([next]),
  };
}

/** Off the event loop, which a large file would hold. */
async function digest(bytes: Buffer): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('base64url');
}

/** A proxy that compresses makes a tag weak. */
function isCurrent(c: AppContext, etag: string): boolean {
  const known = c.req.header('if-none-match')?.split(',') ?? [];
  return known.some((each) => each.trim().replace(/^W\//, '') === etag);
}

/** Calls `done` once the answer is sent or its client is gone; at once where there is no connection. */
function whenAnswered(c: AppContext, done: () => void): void {
  const { outgoing } = (c.env as { outgoing?: ServerResponse } | undefined) ?? {};
  if (outgoing === undefined || outgoing.closed) done();
  else outgoing.once('close', done);
}

/** The last name of the page before. */
function nameOf([name, ...more]: readonly unknown[]): string | null {
  return typeof name === 'string' && more.length === 0 ? name : null;
}
