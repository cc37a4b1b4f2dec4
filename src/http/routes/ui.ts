/** `/ui`: serves the live page, which is built from `src/ui`. The page takes its data from the public routes. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from '@hono/zod-openapi';
import { getMimeType } from 'hono/utils/mime';
import { PACKAGE_ROOT } from '../../base/package.js';
import { LatticeError } from '../../api/errors.js';
import type { AppContext } from '../app-env.js';
import { replyRaw } from '../answer/reply.js';
import type { AddRoute } from '../route.js';

const PAGE = 'index.html';
/** The output of Vite (`npm run build`): one page, and files beside it without folders. */
const BUILT = join(PACKAGE_ROOT, 'dist', 'ui');
const ASSET = /^[a-z][\w-]*\.(?:css|js|svg|jpg|woff2|txt)$/i;

/** Pictures are blobs, because an `img` element cannot send a key. The browser refuses markup made from text. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' blob:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'; trusted-types 'none'";

interface PageFile {
  bytes: Uint8Array<ArrayBuffer>;
  etag: string;
}

const file = (description: string, types: string[]) => ({
  200: {
    description,
    content: Object.fromEntries(types.map((type) => [type, { schema: z.string() }])),
  },
  304: { description: 'Unchanged since the version in If-None-Match' },
});

export function uiRoutes(route: AddRoute): void {
  route(
    {
      method: 'get',
      path: '/ui',
      operationId: 'ui',
      summary: 'The live page',
      description:
        'Detect in an image, submit and follow jobs, see the state of the service. The page needs no key, its data does.',
      tags: ['System'],
      security: [],
      answers: file('The live page', ['text/html']),
      errors: ['not_found'],
    },
    async (c) =>
      replyFile(c, PAGE, await readPageFile(PAGE), { 'content-security-policy': POLICY }),
  );
  route(
    {
      method: 'get',
      path: '/ui/{asset}',
      operationId: 'uiAsset',
      summary: 'A file of the live page',
      description:
        'Scripts, style, font, icon and example of `/ui`, with an ETag. They need no key.',
      tags: ['System'],
      security: [],
      request: { params: z.object({ asset: z.string().openapi({ example: 'main.js' }) }) },
      answers: file('A file of the live page', [
        'text/css',
        'text/javascript',
        'image/svg+xml',
        'image/jpeg',
        'font/woff2',
        'text/plain',
      ]),
      errors: ['not_found'],
    },
    async (c) => {
      const name = c.req.param('asset') ?? '';
      if (!ASSET.test(name)) throw new LatticeError('not_found', 'There is no such file.');
      return replyFile(c, name, await readPageFile(name), {});
    },
  );
}

/** A browser must check the file at each use, so that it never mixes modules of two versions. */
function replyFile(
  c: AppContext,
  name: string,
  { bytes, etag }: PageFile,
  extra: Record<string, string>,
): Response {
  const headers = { ...extra, etag, 'cache-control': 'no-cache' };
  if (c.req.header('if-none-match') === etag) return replyRaw(c, 304, null, headers);
  const type = getMimeType(name) ?? 'application/octet-stream';
  return replyRaw(c, 200, bytes, { ...headers, 'content-type': type });
}

async function readPageFile(name: string): Promise<PageFile> {
  try {
    const bytes = await readFile(join(BUILT, name));
    const digest = createHash('sha256').update(bytes).digest('base64url');
    return { bytes, etag: `"${digest}"` };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    throw new LatticeError('not_found', 'There is no such file.', { cause });
  }
}
