/**
 * `/docs` without a network: Swagger UI from `swagger-ui-dist`, `/openapi.json`, `/llms.txt` with the pages that it
 * links to, and the redirect of `/`.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from '@hono/zod-openapi';
import { getMimeType } from 'hono/utils/mime';
import { LatticeError } from '../../api/errors.js';
import { PACKAGE_ROOT } from '../../base/package.js';
import { isPathError } from '../../base/path-fault.js';
import { replyRaw } from '../answer/reply.js';
import { json, type AddRoute, type RouteSpec } from '../route.js';
import type { RouteParts } from '../route-parts.js';

const FOLDER = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];
const typeOf = (name: string) => getMimeType(name) ?? 'application/octet-stream';

/** The icons in the style sheet are data: images. Everything else comes from this service; no script is inline. */
const POLICY =
  "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'";

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>lattice-core</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png" />
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <link rel="stylesheet" href="/docs/page.css" />
  </head>
  <body>
    <nav><a href="/ui">Live page: detect, jobs, service</a></nav>
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/** Unless validatorUrl is null, the page sends the document to a validator on the internet. */
const START = `window.ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  displayRequestDuration: true,
  validatorUrl: null,
});
`;

const STYLE = `body { margin: 0; font-family: system-ui, sans-serif; }
nav { padding: 12px 20px; background: #171a18; }
nav a { color: #ffffff; }
`;

/** Made here; the other files are the package's. */
const OWN_ASSETS = new Map([
  ['start.js', START],
  ['page.css', STYLE],
]);

/** A page of the folder docs. */
const PAGE_NAME = /^[a-z-]+\.md$/;
const MARKDOWN = 'text/markdown';

const open = { method: 'get' as const, tags: ['System'], security: [] };
const page = { schema: z.string() };

const HOME: RouteSpec = {
  ...open,
  path: '/',
  operationId: 'home',
  summary: 'Redirects browsers to the live page, programs to the documentation',
  description: 'Browsers are told by `text/html` in their Accept header.',
  answers: {
    302: {
      description: 'To /ui or /docs',
      headers: z.object({ Location: z.enum(['/ui', '/docs']) }),
    },
  },
};

const ASSET: RouteSpec = {
  ...open,
  path: '/docs/{asset}',
  operationId: 'docsAsset',
  summary: 'A file of the documentation',
  description:
    'Script, style and icons of `/docs`, and the pages that `/llms.txt` links to. They need no key and nothing from the internet.',
  request: { params: z.object({ asset: z.string().openapi({ example: 'swagger-ui.css' }) }) },
  answers: {
    200: {
      description: 'The file',
      content: Object.fromEntries([...ASSETS.map(typeOf), MARKDOWN].map((type) => [type, page])),
    },
  },
  errors: ['not_found'],
};

export function docsRoutes(route: AddRoute, { openApi }: RouteParts): void {
  route(HOME, (c) => {
    const isBrowser = c.req.header('accept')?.includes('text/html') === true;
    const location = isBrowser ? '/ui' : '/docs';
    const vary = [c.get('baseHeaders').vary, 'accept'].filter(Boolean).join(', ');
    return replyRaw(c, 302, null, { location, vary });
  });
  let text: string | undefined;
  route(
    {
      ...open,
      path: '/openapi.json',
      operationId: 'openapi',
      summary: 'This document',
      description:
        'The OpenAPI 3.1 description of every route, for documentation and for generated clients.',
      answers: { 200: json('OpenAPI 3.1 document', z.record(z.string(), z.unknown())) },
    },
    (c) => {
      text ??= JSON.stringify(openApi());
      return replyRaw(c, 200, text, { 'content-type': 'application/json' });
    },
  );
  route(
    {
      ...open,
      path: '/docs',
      operationId: 'docs',
      summary: 'Interactive documentation',
      description: 'This document as a page from which each request can be tried.',
      answers: {
        200: { description: 'Interactive documentation', content: { 'text/html': page } },
      },
    },
    (c) =>
      replyRaw(c, 200, PAGE, {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': POLICY,
      }),
  );
  route(
    {
      ...open,
      path: '/llms.txt',
      operationId: 'llmsText',
      summary: 'What there is to read, for programs that read it',
      description: 'The pages of the documentation, the commands and the main calls, as Markdown.',
      answers: { 200: { description: 'The list', content: { 'text/plain': page } } },
    },
    async (c) =>
      replyRaw(c, 200, await packagedText('llms.txt'), {
        'content-type': 'text/plain; charset=utf-8',
      }),
  );
  route(ASSET, async (c) => {
    const name = c.req.param('asset') ?? '';
    if (PAGE_NAME.test(name)) {
      const text = await packagedText(join('docs', name));
      return replyRaw(c, 200, text, { 'content-type': `${MARKDOWN}; charset=utf-8` });
    }
    const own = OWN_ASSETS.get(name);
    const type = { 'content-type': typeOf(name) };
    if (own !== undefined) return replyRaw(c, 200, own, type);
    if (!ASSETS.includes(name)) throw new LatticeError('not_found', 'There is no such file.');
    return replyRaw(c, 200, await readFile(join(FOLDER, name)), {
      ...type,
      'cache-control': 'public, max-age=3600',
    });
  });
}

/** Rejects with `not_found` where an installation has been stripped of the file. */
async function packagedText(path: string): Promise<string> {
  return readFile(join(PACKAGE_ROOT, path), 'utf8').catch((cause: unknown) => {
    throw isPathError(cause)
      ? new LatticeError('not_found', 'There is no such file.', { cause })
      : cause;
  });
}
