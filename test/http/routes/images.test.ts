/** Folders and pictures over HTTP, opened by the addon: what is shown, to whom, and what is refused. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Config } from '../../../src/settings/config.js';
import { openFileAccess, type FileAccess } from '../../../src/execution/here/file-access.js';
import { loadConfig } from '../../../src/settings/config.js';
import { ApiKeys } from '../../../src/http/access/api-keys.js';
import type { AppDeps } from '../../../src/http/app-deps.js';
import { listen } from '../../../src/http/server/listen.js';
import { compose, get, type Harness } from '../../support/composed-app.js';
import { holdFolder } from '../../support/held-folder.js';
import { ScriptedDetector } from '../../support/scripted-detector.js';
import { until } from '../../support/eventually.js';

const KEY = 'lat_alice_0123456789abcdef';
const OWN = 'http://localhost:8000';
const host = { host: 'localhost:8000' };

let folder: string;
let root: string;
let photo: Buffer;
let files: FileAccess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-images-'));
  root = join(folder, 'images');
  mkdirSync(join(root, 'day'), { recursive: true });
  mkdirSync(join(root, 'gone'));
  const create = { width: 400, height: 300, channels: 3 as const, background: 'teal' };
  photo = await sharp({ create }).withMetadata({ orientation: 8 }).jpeg().toBuffer();
  writeFileSync(join(root, 'photo.jpg'), photo);
  writeFileSync(join(root, 'day', 'wrong-name.png'), photo);
  writeFileSync(join(root, 'gone', 'a.jpg'), photo);
  writeFileSync(join(root, 'page.jpg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(folder, 'outside.jpg'), photo);
  symlinkSync('../outside.jpg', join(root, 'link-out.jpg'));
  files = await openFileAccess({ ...loadConfig({}, {}), imageRoots: [root] });
});

afterAll(async () => {
  await files.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(
  config: Partial<Config> = {},
  overrides: Partial<AppDeps> = {},
  readImage = files.readImage,
): Harness {
  const detector = Object.assign(new ScriptedDetector(), {
    readImage,
    decodeImage: files.decodeImage,
  });
  return compose({ imageRoots: [root], ...config }, { detector, ...overrides });
}

const fileOf = (query: string) => `/v1/images/file?${query}`;

async function fetchFile(app: Harness, query: string, headers: Record<string, string> = {}) {
  const response = await app.app.request(fileOf(query), { headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes };
}

test('a crop is a part of the upright image, and never more than the image', async () => {
  // Left half red, right half blue, stored turned by 90 degrees to the left.
  const half = (background: string) =>
    sharp({ create: { width: 200, height: 300, channels: 3, background } })
      .png()
      .toBuffer();
  const upright = sharp({ create: { width: 400, height: 300, channels: 3, background: 'red' } });
  const both = upright.composite([{ input: await half('blue'), left: 200, top: 0 }]);
  const turned = await sharp(await both.png().toBuffer())
    .rotate(270)
    .toBuffer();
  const stored = await sharp(turned).withMetadata({ orientation: 6 }).jpeg().toBuffer();
  writeFileSync(join(root, 'halves.jpg'), stored);
  const app = open();
  const crop = async (area: string, width = 100) => {
    const { status, bytes } = await fetchFile(app, `path=halves.jpg&width=${width}&crop=${area}`);
    expect(status).toBe(200);
    const { width: wide, height } = await sharp(bytes).metadata();
    const { channels } = await sharp(bytes).stats();
    const [red, , blue] = channels.map(({ mean }) => mean);
    return { size: [wide, height], colour: red! > 200 ? 'red' : blue! > 200 ? 'blue' : 'both' };
  };
  expect(await crop('0,0,180,90')).toEqual({ size: [100, 50], colour: 'red' });
  expect(await crop('220,200,400,290')).toEqual({ size: [100, 50], colour: 'blue' });
  expect(await crop('100,0,300,300')).toMatchObject({ colour: 'both' });
  expect(await crop('380,280,900,900')).toEqual({ size: [20, 20], colour: 'blue' });
  expect(await crop('900,900,999,999')).toEqual({ size: [1, 1], colour: 'blue' });
  const tags = await Promise.all(
    ['', '&crop=0,0,9,9', '&crop=0,0,9,8'].map(async (query) =>
      (await fetchFile(app, `path=halves.jpg&width=50${query}`)).headers.get('etag'),
    ),
  );
  expect(new Set(tags).size).toBe(3);
  rmSync(join(root, 'halves.jpg'));
  for (const query of [
    'crop=0,0,9,9',
    'width=50&crop=0,0,9',
    'width=50&crop=9,9,9,20',
    'width=50&crop=-1,0,9,9',
  ]) {
    expect((await fetchFile(app, `path=photo.jpg&${query}`)).status).toBe(422);
  }
});

describe('the list', () => {
  test('shows the roots, a folder beneath them, and its pages', async () => {
    const app = open();
    const roots = await get(app, '/v1/images');
    expect(roots.status).toBe(200);
    expect(roots.headers.get('cache-control')).toBe('no-store');
    expect(roots.body).toEqual({
      path: '',
      entries: [
        { type: 'folder', name: 'day', path: 'day', modified_at: expect.any(Number) },
        { type: 'folder', name: 'gone', path: 'gone', modified_at: expect.any(Number) },
        {
          type: 'image',
          name: 'page.jpg',
          path: 'page.jpg',
          bytes: 41,
          modified_at: expect.any(Number),
        },
        {
          type: 'image',
          name: 'photo.jpg',
          path: 'photo.jpg',
          bytes: photo.length,
          modified_at: expect.any(Number),
        },
      ],
      next_cursor: null,
    });
    const day = await get(app, '/v1/images?under=day');
    expect(day.body).toMatchObject({ path: 'day', entries: [{ path: 'day/wrong-name.png' }] });
    const names: string[] = [];
    let query = '';
    for (;;) {
      const { body } = await get(app, `/v1/images?limit=3${query}`);
      names.push(...(body.entries as { name: string }[]).map(({ name }) => name));
      if (body.next_cursor === null) break;
      query = `&cursor=${body.next_cursor}`;
    }
    expect(names).toEqual(['day', 'gone', 'page.jpg', 'photo.jpg']);
  });

  test.each([
    ['under=..', 422, 'path_not_allowed'],
    ['under=%2e%2e/', 422, 'path_not_allowed'],
    ['under=/etc', 422, 'path_not_allowed'],
    ['under=day%00', 422, 'path_not_allowed'],
    ['under=absent', 404, 'not_found'],
    ['under=photo.jpg', 404, 'not_found'],
    [`under=${'n/'.repeat(2_100)}`, 422, 'validation_failed'],
    ['limit=0', 422, 'validation_failed'],
    ['limit=1001', 422, 'validation_failed'],
    ['limit=ten', 422, 'validation_failed'],
    ['cursor=bm9uZQ', 422, 'validation_failed'],
    ['under=day&under=gone', 422, 'validation_failed'],
    ['folder=day', 422, 'validation_failed'],
  ])('%s is answered %d %s', async (query, status, code) => {
    const answer = await get(open(), `/v1/images?${query}`);
    expect(answer).toMatchObject({ status, body: { code } });
    expect(JSON.stringify(answer.body)).not.toContain(folder);
  });
});

describe('a picture', () => {
  test('comes as the file is, under the type of its bytes, and runs nothing', async () => {
    for (const path of ['photo.jpg', 'day/wrong-name.png', join(root, 'photo.jpg')]) {
      const { status, headers, bytes } = await fetchFile(
        open(),
        `path=${encodeURIComponent(path)}`,
      );
      expect(status).toBe(200);
      expect(bytes.equals(photo)).toBe(true);
      expect(headers.get('content-type')).toBe('image/jpeg');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain('sandbox');
      expect(headers.get('cache-control')).toBe('private, max-age=60');
      expect(headers.get('vary')).toContain('authorization');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    }
  });

  test('with a width is an upright JPEG', async () => {
    const { status, headers, bytes } = await fetchFile(open(), 'path=photo.jpg&width=150');
    expect([status, headers.get('content-type')]).toEqual([200, 'image/jpeg']);
    const { width, height, exif } = await sharp(bytes).metadata();
    expect({ width, height, exif }).toEqual({ width: 150, height: 200, exif: undefined });
  });

  test('is not sent again while it is the same; each width has a tag', async () => {
    const app = open();
    const tags = new Set<string>();
    for (const query of ['path=photo.jpg', 'path=photo.jpg&width=100', 'path=photo.jpg&width=50']) {
      const etag = (await fetchFile(app, query)).headers.get('etag')!;
      tags.add(etag);
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
        const again = await fetchFile(app, query, { 'if-none-match': known });
        expect([again.status, again.bytes.length]).toEqual([304, 0]);
        expect(again.headers.get('etag')).toBe(etag);
        expect(again.headers.get('cache-control')).toBe('private, max-age=60');
      }
      const other = await fetchFile(app, query, { 'if-none-match': '"other"' });
      expect(other.status).toBe(200);
    }
    expect(tags.size).toBe(3);
  });

  test.each([
    ['path=../outside.jpg', 'path_not_allowed'],
    ['path=day/../photo.jpg', 'path_not_allowed'],
    ['path=link-out.jpg', 'path_not_allowed'],
    ['path=/etc/passwd', 'path_not_allowed'],
    ['path=nul%00.jpg', 'path_not_allowed'],
    ['path=absent.jpg', 'image_not_found'],
    ['path=day', 'not_a_regular_file'],
    ['path=page.jpg', 'unsupported_image_format'],
    ['path=page.jpg&width=100', 'unsupported_image_format'],
    ['path=', 'validation_failed'],
    ['', 'validation_failed'],
    ['path=photo.jpg&width=15', 'validation_failed'],
    ['path=photo.jpg&width=2049', 'validation_failed'],
    ['path=photo.jpg&width=100.5', 'validation_failed'],
    ['path=photo.jpg&path=photo.jpg', 'validation_failed'],
  ])('%s is refused as %s', async (query, code) => {
    const answer = await get(open(), fileOf(query));
    expect(answer).toMatchObject({ status: 422, body: { code } });
    expect(JSON.stringify(answer.body)).not.toContain(folder);
  });

  test('on a volume that hangs is given up', async ({ skip }) => {
    await using held = await holdFolder(join(root, 'gone'));
    if (held === null) {
      skip();
      return;
    }
    const answer = await get(open(), fileOf('path=gone/a.jpg'));
    expect(answer).toMatchObject({ status: 503, body: { code: 'volume_unavailable' } });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  });
});

describe('bytes in hand', () => {
  /** Larger than what a connection takes by itself. */
  const LARGE = Buffer.concat([Buffer.from('\xFF\xD8\xFF', 'latin1'), Buffer.alloc(40_000_000)]);

  test('are bounded: one picture more is refused, and readers that go away give theirs back', async () => {
    // 64 MiB: one large picture.
    const app = open({ maxFileBytes: 2 ** 20 }, {}, () => Promise.resolve(LARGE));
    const server = await listen(app, { host: '127.0.0.1', port: 0 });
    try {
      const slow = connect(server.port, '127.0.0.1');
      slow.write(`GET ${fileOf('path=a.jpg')} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      await new Promise((resolve) => slow.once('readable', resolve));
      const refused = await fetch(`${server.url}${fileOf('path=a.jpg')}`);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await refused.json()).toMatchObject({ code: 'overloaded' });
      slow.destroy();
      await until(() => app.observed.length >= 2, 'both answered');
      // The end of the connection is seen in its own time.
      let whole = 0;
      for (let attempt = 0; attempt < 50 && whole === 0; attempt += 1) {
        const response = await fetch(`${server.url}${fileOf('path=a.jpg')}`);
        whole = response.ok ? (await response.arrayBuffer()).byteLength : 0;
      }
      expect(whole).toBe(LARGE.length);
      const again = await fetch(`${server.url}${fileOf('path=a.jpg')}`, { method: 'HEAD' });
      expect(again.status).toBe(200);
    } finally {
      await server.close(500);
    }
  });

  test('of a client that leaves while its file is read are given back', async () => {
    const finish: (() => void)[] = [];
    const app = open(
      { maxFileBytes: 2 ** 20 },
      {},
      () =>
        new Promise<Buffer>((resolve) => {
          finish.push(() => {
            resolve(LARGE);
          });
        }),
    );
    const server = await listen(app, { host: '127.0.0.1', port: 0 });
    try {
      for (let round = 1; round <= 3; round += 1) {
        const leaving = new AbortController();
        const left = fetch(`${server.url}${fileOf('path=a.jpg')}`, { signal: leaving.signal });
        await until(() => finish.length === round, 'the file is read');
        leaving.abort();
        await expect(left).rejects.toThrow();
        finish.at(-1)!();
        await until(() => app.observed.length === round, 'the request has ended');
      }
      const stays = fetch(`${server.url}${fileOf('path=a.jpg')}`);
      await until(() => finish.length === 4, 'the file is read');
      finish.at(-1)!();
      expect((await stays).status).toBe(200);
    } finally {
      await server.close(500);
    }
  });
});

describe('who may see', () => {
  const paths = ['/v1/images', fileOf('path=photo.jpg'), fileOf('path=photo.jpg&width=64')];
  const status = async (app: Harness, path: string, headers: Record<string, string>) =>
    (await app.app.request(path, { headers: { ...host, ...headers } })).status;

  test.each([
    ['a program', {}, 200],
    ['a page of the service', { 'sec-fetch-site': 'same-origin' }, 200],
    ['that page, with its origin', { 'sec-fetch-site': 'same-origin', origin: OWN }, 200],
    ['a page of the service in an older browser', { origin: OWN }, 200],
    ['a person who typed the address', { 'sec-fetch-site': 'none' }, 200],
    ['a page of another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a page of the same site', { 'sec-fetch-site': 'same-site' }, 403],
    ['a page that asks across origins', { origin: 'https://evil.example' }, 403],
    ['a page without an origin of its own', { origin: 'null' }, 403],
    ['a page of another port', { origin: 'http://localhost:9000' }, 403],
    ['a value to come', { 'sec-fetch-site': 'other' }, 403],
    ['a listed page', { 'sec-fetch-site': 'cross-site', origin: 'https://app.example' }, 200],
    ['a listed page that embeds an image', { 'sec-fetch-site': 'cross-site' }, 403],
  ])('%s, in development and production', async (_who, headers, expected) => {
    for (const env of ['development', 'production'] as const) {
      const app = open({ env, corsOrigins: ['https://app.example'] });
      for (const path of paths) expect(await status(app, path, headers)).toBe(expected);
    }
  });

  test('no answer allows any origin, and a preflight allows listed ones only', async () => {
    const app = open({ corsOrigins: ['https://app.example'] });
    const asked = { ...host, 'access-control-request-method': 'GET' };
    for (const path of [...paths, '/v1/images/', '/v1/%69mages']) {
      for (const method of ['GET', 'HEAD', 'OPTIONS']) {
        const headers = { ...asked, origin: 'https://evil.example' };
        const answer = await app.app.request(path, { method, headers });
        expect(answer.headers.has('access-control-allow-origin')).toBe(false);
        if (method !== 'OPTIONS') expect(answer.status).toBe(403);
      }
      const listed = { ...asked, origin: 'https://app.example' };
      const answer = await app.app.request(path, { method: 'OPTIONS', headers: listed });
      expect(answer.status).toBe(204);
      expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example');
    }
    const page = { ...host, origin: 'https://app.example' };
    const answer = await app.app.request(paths[1]!, { headers: page });
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example');
    // The other routes stay open to any page in development.
    const jobs = await get(app, '/v1/jobs', { ...host, origin: 'https://evil.example' });
    expect(jobs.headers.get('access-control-allow-origin')).toBe('*');
  });

  test('with API keys, only who has one', async () => {
    const app = open({}, { apiKeys: ApiKeys.parse(KEY) });
    for (const path of paths) {
      expect(await status(app, path, {})).toBe(401);
      expect(await status(app, path, { authorization: `Bearer ${KEY}` })).toBe(200);
    }
  });

  test('nobody where it is switched off', async () => {
    const app = open({ browse: false });
    for (const path of paths) {
      const { status: answered, body } = await get(app, path);
      expect([answered, body.code]).toEqual([404, 'not_found']);
      expect(body.detail).toContain('LATTICE_BROWSE=false');
    }
  });
});
