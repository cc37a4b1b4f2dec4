/** `GET /v1/images` and `/v1/images/file`: folders and pictures beneath the image roots. */
import { webcrypto } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Folders, type FolderListing } from '../../files/folders.js';
import { Pictures, THUMBNAIL_TYPE } from '../../files/pictures.js';
import { environmentName, type Config } from '../../settings/config.js';
import { LatticeError } from '../../api/errors.js';
import type { AppDeps } from '../app-deps.js';
import type { AppContext } from '../app-env.js';
import { readQuery } from '../query.js';
import { replyJson, replyRaw } from '../reply.js';
import type { RouteHandler } from '../route-table.js';
import { BytesInHand } from '../uploads/bytes-in-hand.js';
import { decodeCursor, encodeCursor } from './folder-cursor.js';
import { folderQuerySchema, pictureQuerySchema, type FolderPageBody } from './image.schema.js';

/** Pictures of the largest size that are in hand at a time, and room for many small ones. */
const LARGEST_IN_HAND = 4;
const LEAST_IN_HAND = 64 * 1024 * 1024;

/**
 * A browser keeps a picture for a minute, then asks whether it has changed. It is for the caller that fetched it, and no
 * page of another origin may show it. Opened by itself it runs nothing.
 */
const PICTURE_HEADERS = {
  'cache-control': 'private, max-age=60',
  vary: 'origin, sec-fetch-site, authorization, x-api-key',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
};

export interface ImageHandlers {
  list: RouteHandler;
  file: RouteHandler;
}

export function createImageHandlers({ config, detector }: AppDeps): ImageHandlers {
  const folders = new Folders(config.imageRoots);
  const pictures = new Pictures({ detector, config });
  const inHand = new BytesInHand(Math.max(LARGEST_IN_HAND * config.maxFileBytes, LEAST_IN_HAND));
  return {
    list: async (c) => {
      refuseWhereOff(config);
      const { under, cursor, limit } = readQuery(folderQuerySchema, c.req.queries());
      const after = cursor === undefined ? '' : decodeCursor(cursor);
      return replyJson(c, 200, view(await folders.list(under, after, limit)));
    },
    file: async (c) => {
      refuseWhereOff(config);
      const { path, width } = readQuery(pictureQuerySchema, c.req.queries());
      const share = inHand.open();
      try {
        const picture = await pictures.read(path);
        share.add(picture.bytes.length);
        const etag = `"${await digest(picture.bytes)}${width === undefined ? '' : `-${width}`}"`;
        const headers = { ...PICTURE_HEADERS, etag };
        if (isCurrent(c, etag)) return replyRaw(c, 304, null, headers);
        const small =
          width === undefined ? null : await pictures.thumbnail(picture, width, c.req.raw.signal);
        const type = small === null ? picture.type : THUMBNAIL_TYPE;
        return replyRaw(c, 200, bodyOf(small ?? picture.bytes), {
          ...headers,
          'content-type': type,
        });
      } finally {
        whenAnswered(c, () => {
          share.release();
        });
      }
    },
  };
}

function refuseWhereOff({ browse }: Pick<Config, 'browse'>): void {
  if (browse) return;
  const detail = `This service does not show its image folders (${environmentName('browse')}=false).`;
  throw new LatticeError('not_found', detail);
}

function view({ path, entries, next }: FolderListing): FolderPageBody {
  return {
    path,
    entries: entries.map(({ name, path: entryPath, isFolder, status }) => ({
      type: isFolder ? 'folder' : 'image',
      name,
      path: entryPath,
      ...(isFolder || status === null ? {} : { bytes: status.bytes }),
      ...(status === null ? {} : { modified_at: status.modifiedAt }),
    })),
    next_cursor: next === null ? null : encodeCursor(next),
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

/** The bytes lie in memory of their own, which is not shared between threads. */
function bodyOf(bytes: Buffer): Uint8Array<ArrayBuffer> {
  return bytes as Buffer<ArrayBuffer>;
}

/** Once the answer is sent or its client gone; at once where there is no connection. */
function whenAnswered(c: AppContext, done: () => void): void {
  const { outgoing } = (c.env as { outgoing?: ServerResponse } | undefined) ?? {};
  if (outgoing === undefined || outgoing.closed) done();
  else outgoing.once('close', done);
}
