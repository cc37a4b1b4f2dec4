/** `/ui`: the live page, made of the files of `src/ui`. Its data comes from the public routes. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { z, type RouteConfig } from '@hono/zod-openapi';
import { PACKAGE_ROOT } from '../../config.js';
import { LatticeError } from '../../errors.js';
import type { AppContext } from '../app-env.js';
import { problemResponses } from '../problem.schema.js';
import { replyRaw } from '../reply.js';
import type { RouteTable } from '../route-table.js';

const PAGE = 'index.html';
/** Modules are served as compiled, the rest as written. */
const COMPILED = join(PACKAGE_ROOT, 'dist', 'ui');
const WRITTEN = join(PACKAGE_ROOT, 'src', 'ui', 'page');
const KINDS = new Map([
  ['.html', { folder: WRITTEN, type: 'text/html; charset=utf-8' }],
  ['.css', { folder: WRITTEN, type: 'text/css; charset=utf-8' }],
  ['.svg', { folder: WRITTEN, type: 'image/svg+xml' }],
  ['.js', { folder: COMPILED, type: 'text/javascript; charset=utf-8' }],
]);
const ASSET = /^[a-z][a-z-]*\.(?:css|js|svg)$/;

/** Drawn copies come as blobs, because an image cannot send a key. Markup made of text is refused by the browser. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'; trusted-types 'none'";

interface PageFile {
  bytes: Uint8Array<ArrayBuffer>;
  etag: string;
}

const get = (path: string, operationId: string, summary: string, types: string[]): RouteConfig => ({
  method: 'get',
  path,
  operationId,
  summary,
  tags: ['System'],
  security: [],
  responses: {
    200: {
      description: summary,
      content: Object.fromEntries(types.map((type) => [type, { schema: z.string() }])),
    },
    304: { description: 'Unchanged: the If-None-Match of the request names it' },
    ...problemResponses('not_found', 'internal_error'),
  },
});

const page = get('/ui', 'ui', 'The live page', ['text/html']);
const asset: RouteConfig = {
  ...get('/ui/{asset}', 'uiAsset', 'A file of the live page', [
    'text/css',
    'text/javascript',
    'image/svg+xml',
  ]),
  request: { params: z.object({ asset: z.string().openapi({ example: 'page.css' }) }) },
};

export function addUiRoutes(table: RouteTable): void {
  table.add(page, async (c) =>
    replyFile(c, PAGE, await readPageFile(PAGE), { 'content-security-policy': POLICY }),
  );
  table.add(asset, async (c) => {
    const name = c.req.param('asset') ?? '';
    if (!ASSET.test(name)) throw new LatticeError('not_found', 'There is no such file.');
    return replyFile(c, name, await readPageFile(name), {});
  });
}

/** A browser checks the file at each use: modules of two versions would not fit together. */
function replyFile(
  c: AppContext,
  name: string,
  { bytes, etag }: PageFile,
  extra: Record<string, string>,
): Response {
  const headers = { ...extra, etag, 'cache-control': 'no-cache' };
  if (c.req.header('if-none-match') === etag) return replyRaw(c, 304, null, headers);
  const type = KINDS.get(extname(name))?.type ?? 'application/octet-stream';
  return replyRaw(c, 200, bytes, { ...headers, 'content-type': type });
}

async function readPageFile(name: string): Promise<PageFile> {
  const folder = KINDS.get(extname(name))?.folder ?? WRITTEN;
  try {
    const bytes = await readFile(join(folder, name));
    const digest = createHash('sha256').update(bytes).digest('base64url');
    return { bytes, etag: `"${digest}"` };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    throw new LatticeError('not_found', 'There is no such file.', { cause });
  }
}
