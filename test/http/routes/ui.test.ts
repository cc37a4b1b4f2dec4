/** The live page as it is served: what it loads, what it may do, and that its parts fit together. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ApiKeys } from '../../../src/http/access/api-keys.js';
import { compose, get } from '../../support/composed-app.js';
import { PROJECT_ROOT } from '../../support/service-process.js';

const app = compose();
const page = await get(app, '/ui');
const html = page.body as string;
const linked = [...html.matchAll(/(?:src|href)="(\/ui\/[^"]+)"/g)].map(([, path]) => path!);
const SOURCES = join(PROJECT_ROOT, 'src/ui');
const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => readFileSync(join(SOURCES, file), 'utf8'));

const load = async (path: string): Promise<string> => (await get(app, path)).body as string;

test('the page may run, load and connect to its own origin only', () => {
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const policy = page.headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*|data:/);
  expect(html).not.toMatch(/https?:|"\/\/|<script>|<style| style=| on\w+=/);
});

test('every file that the page names exists', async () => {
  expect(linked).toEqual(expect.arrayContaining(['/ui/main.js', '/ui/style.css', '/ui/icon.svg']));
  const style = await load('/ui/style.css');
  const fonts = [...style.matchAll(/url\(([^)]+)\)/g)].map(([, path]) => path!);
  expect(fonts).toEqual(['/ui/inter-latin-wght-normal.woff2']);
  const types = { js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml', woff2: 'font/woff2', txt: 'text/plain' }; // prettier-ignore
  for (const path of [...linked, ...fonts, '/ui/inter-licence.txt']) {
    const response = await app.app.request(path);
    expect(response.status, `${path}: npm run build compiles the page`).toBe(200);
    const type = types[path.split('.').at(-1) as keyof typeof types];
    expect(response.headers.get('content-type'), path).toContain(type);
  }
  expect(style).not.toMatch(/data:|https?:|@import/);
});

test('every script that the build makes is served', async () => {
  const built = readdirSync(join(PROJECT_ROOT, 'dist/ui')).filter((name) => name.endsWith('.js'));
  expect(built.length).toBeGreaterThan(10);
  for (const name of built) {
    expect((await app.app.request(`/ui/${name}`)).status, name).toBe(200);
  }
});

test('no text is parsed as markup or as a script', () => {
  for (const text of sources) {
    expect(text).not.toMatch(
      /innerHTML|dangerouslySet|outerHTML|insertAdjacentHTML|document\.write|srcdoc|DOMParser|eval\(|new Function/,
    );
  }
});

test('an unchanged file is not sent again', async () => {
  for (const path of ['/ui', '/ui/main.js']) {
    const first = await get(app, path);
    expect(first.headers.get('cache-control')).toBe('no-cache');
    const etag = first.headers.get('etag')!;
    const again = await get(app, path, { 'if-none-match': etag });
    expect([again.status, again.body, again.headers.get('etag')]).toEqual([304, '', etag]);
    expect(await get(app, path, { 'if-none-match': '"other"' })).toMatchObject({ status: 200 });
  }
});

test.each([
  'main.tsx',
  'vite.config.ts',
  'main.js.map',
  'index.html',
  'tsconfig.json',
  'nothing.js',
  '..%2fmain.js',
  '..%2f..%2fpackage.json',
  '%2e%2e%2fhttp%2fenvelope.js',
])('%s is not served', async (file) => {
  expect(await get(app, `/ui/${file}`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
});

describe('with API keys', () => {
  const keyed = compose({}, { apiKeys: ApiKeys.parse('lat_alice_0123456789abcdef alice') });

  test('the page needs no key, its data does', async () => {
    for (const path of ['/ui', '/ui/', '/ui/main.js', '/ui/style.css']) {
      expect(await get(keyed, path), path).toMatchObject({ status: 200 });
    }
    for (const path of ['/v1/jobs', '/v1/models', '/ui/a/b', '/uix']) {
      expect(await get(keyed, path), path).toMatchObject({ status: 401 });
    }
  });
});
