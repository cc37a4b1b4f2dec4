/**
 * A file of any name that a volume can hold, through each door: named as it is given, found, and named so in the
 * answer.
 */
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { run } from '../cli/run.js';
import { call, detect, FEW_THREADS, PICTURE, resultOf, submit } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';
import { eventually } from '../support/eventually.js';

const NAMES = [
  'plain.png',
  ' spaces  within .png',
  `quotes ' " \`.png`,
  'brackets [1].png',
  '[0-9].png',
  '{a,b}.png',
  'unclosed {[(.png',
  'a*b?.png',
  '!not.png',
  'NFC Zürich é.png'.normalize('NFC'),
  'NFD Zürich é.png'.normalize('NFD'),
  '日本 😀 👩‍🚗.png',
  '-dash.png',
  '--help.png',
  '~home $HOME `id`.png',
  '#hash & a=b; 100%.png',
  'percent %2e%2e%2F %FF.png',
  'back\\slash.png',
  'http:example.png',
  'comma, colon: semicolon;.png',
  'new\nline.png',
  'tab\tand\rreturn.png',
  'escape \u001b[2J\u0007.png',
  'right \u202egnp.to left.png',
  `${'x'.repeat(251)}.png`,
  `${'é'.normalize('NFC').repeat(125)}x.png`,
];
const PATHS = NAMES.map((name) => `names/${name}`);
/** A detector of its own is loaded. */
const CLI_MS = 120_000;
/** No UTF-8: as the bytes are, and as they are written. */
const BYTES = [
  ['%E9t%E9 %20.png', '\xe9t\xe9 %20.png'],
  ['z%FCrich/%FFplain.png', 'z\xfcrich/\xffplain.png'],
  ['z%FCrich/deep/a.png', 'z\xfcrich/deep/a.png'],
  ['z%FCrich/deep/Ab%C3(%C3%A9.png', 'z\xfcrich/deep/Ab\xc3(\xc3\xa9.png'],
] as const;
const ESCAPED = BYTES.map(([text]) => `bytes/${text}`);
const sorted = (paths: readonly string[]) => [...paths].sort((a, b) => (a < b ? -1 : 1));

const latin1 = (text: string) => Buffer.from(text, 'latin1');

let root: string;
let service: ServiceProcess;

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'lattice-names [a]-')));
  mkdirSync(join(root, 'names'));
  for (const path of PATHS) copyFileSync(PICTURE, join(root, path));
  const bytesOf = (path: string) => Buffer.concat([Buffer.from(`${root}/`), latin1(path)]);
  mkdirSync(bytesOf('bytes/z\xfcrich/deep'), { recursive: true });
  for (const [, path] of BYTES) copyFileSync(PICTURE, bytesOf(`bytes/${path}`));
  service = await startService({
    env: { ...FEW_THREADS, LATTICE_IMAGE_ROOTS: JSON.stringify([root]) },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(root, { recursive: true });
});

/** The images of a job, with what became of each. */
async function imagesOf(...image_paths: string[]): Promise<[string, string, number][]> {
  const id = await submit(service.url, { job_type: 'detect_vehicles', image_paths });
  const { result } = await resultOf(service.url, id);
  return result.images.map((image) => [image.image_path, image.status, image.total_count]);
}
const done = (paths: readonly string[]) => paths.map((path) => [path, 'ok', 6]);

/** The images of a run, with what became of each. */
async function detectedByCli(paths: readonly string[]): Promise<[string, string][]> {
  const given = paths.map((path) => join(root, path));
  const { out } = await run(
    'detect',
    ...given,
    '--model',
    'tiny-v8',
    '--precision',
    'f32',
    '--json',
  );
  return out
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { image_path, status } = JSON.parse(line) as { image_path: string; status: string };
      return [relative(root, image_path), status];
    });
}

test.each([...PATHS, ...ESCAPED])('detect: %j', async (path) => {
  for (const image_path of [path, join(root, path)]) {
    const { status, body } = await detect(service.url, { image_path });
    expect([status, body.image_path, body.total_count]).toEqual([200, image_path, 6]);
  }
});

describe('a job', () => {
  test('that names them', async () => {
    expect(await imagesOf(...PATHS)).toEqual(done(PATHS));
  });

  test.each(['names', 'names/', 'names/*', 'n*/*.png', 'names/*.{png,jpg}'])(
    'that names %s',
    async (path) => {
      expect(await imagesOf(path)).toEqual(done(sorted(PATHS)));
    },
  );

  test('that names them in the other Unicode form', async () => {
    const [composed = '', decomposed = ''] = PATHS.filter((path) => /NF[CD]/.test(path));
    const asked = [composed.normalize('NFD'), decomposed.normalize('NFC')];
    expect(asked).not.toEqual([composed, decomposed]);
    expect(await imagesOf(...asked)).toEqual(done(asked));
  });

  test('whose names are not there fails in these images only', async () => {
    const gone = ['gone [1].png', 'names/{c,d}.png', 'NAMES/PLAIN.PNG', 'names\\plain.png'];
    const id = await submit(service.url, { image_paths: ['names/plain.png', ...gone] });
    const { images } = (await resultOf(service.url, id)).result;
    expect(images.map(({ image_path, status }) => [image_path, status])).toEqual([
      ['names/plain.png', 'ok'],
      ...gone.map((path) => [path, 'error']),
    ]);
    expect(images[1]!.error).toMatchObject({ code: 'image_not_found' });
  });
});

describe('names that are no UTF-8', () => {
  test('in a job, by name, folder and glob', async () => {
    expect(await imagesOf(...ESCAPED)).toEqual(done(ESCAPED));
    for (const path of ['bytes', 'bytes/**', '{bytes,gone}/**/*.png']) {
      expect(await imagesOf(path)).toEqual(done(sorted(ESCAPED)));
    }
    const inFolder = sorted(ESCAPED.filter((path) => path.startsWith('bytes/z')));
    for (const path of ['bytes/z%FCrich', 'bytes/z%FCrich/', 'bytes/z%FCrich/**', 'bytes/z*/**']) {
      expect(await imagesOf(path)).toEqual(done(inFolder));
    }
  });

  test('in browsing, with their files', async () => {
    const found: string[] = [];
    for (const under of ['bytes', 'bytes/z%FCrich', 'bytes/z%FCrich/deep']) {
      const answer = await call(service.url, `/v1/images?under=${encodeURIComponent(under)}`);
      const { entries } = answer.body as unknown as {
        entries: { type: string; path: string; bytes?: number }[];
      };
      for (const { type, path, bytes } of entries) {
        if (type === 'folder') continue;
        expect(bytes).toBeGreaterThan(0);
        found.push(path);
        const file = await call(service.url, `/v1/images/file?path=${encodeURIComponent(path)}`);
        expect(file.status).toBe(200);
      }
    }
    expect(sorted(found)).toEqual(sorted(ESCAPED));
  });

  test(
    'on the command line',
    async () => {
      expect(await detectedByCli([...ESCAPED, 'bytes'])).toEqual(
        ESCAPED.map((path) => [path, 'ok']),
      );
    },
    CLI_MS,
  );
});

test.each(['NAMES/PLAIN.PNG', 'names\\plain.png'])(
  '%s: the answer names the file',
  async (path) => {
    // On a busy machine the first look may take longer than an answer waits for it.
    await eventually(async () => {
      const { status, body } = await detect(service.url, { image_path: path });
      expect([status, body.code]).toEqual([422, 'image_not_found']);
      expect(body.detail).toMatch(/ Did you mean 'names\/plain\.png'\?$/);
    });
  },
);

test('browsing, page by page, and the files', async () => {
  const listed: string[] = [];
  for (let cursor = ''; ;) {
    const query = `under=names&limit=7${cursor}`;
    const { entries, next_cursor } = (await call(service.url, `/v1/images?${query}`))
      .body as unknown as { entries: { path: string }[]; next_cursor: string | null };
    listed.push(...entries.map(({ path }) => path));
    if (next_cursor === null) break;
    cursor = `&cursor=${encodeURIComponent(next_cursor)}`;
  }
  expect(listed).toEqual(sorted(PATHS));
  for (const path of listed) {
    const answer = await call(service.url, `/v1/images/file?path=${encodeURIComponent(path)}`);
    expect([path, answer.status]).toEqual([path, 200]);
  }
});

test('exports', async () => {
  const id = await submit(service.url, { image_paths: PATHS });
  await resultOf(service.url, id);
  const exported = async (format: string) =>
    (await fetch(`${service.url}/v1/jobs/${id}/result?format=${format}`)).text();
  const lines = (await exported('ndjson')).trimEnd().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { image_path: string }).image_path)).toEqual(
    PATHS,
  );
  const { images } = JSON.parse(await exported('coco')) as { images: { file_name: string }[] };
  expect(images.map(({ file_name }) => file_name)).toEqual(PATHS);
});

describe('the command line', () => {
  beforeEach(() => {
    vi.stubEnv('LATTICE_CORE_API_URL', service.url);
  });

  test(
    'detect, by name and by folder, each image once',
    async () => {
      expect(await detectedByCli([...PATHS, 'names'])).toEqual(PATHS.map((path) => [path, 'ok']));
    },
    CLI_MS,
  );

  test('job submit and job result; no name acts on the terminal', async () => {
    const { out: id, code } = await run('job', 'submit', '--wait', '--', ...NAMES.map(inFolder));
    expect(code).toBe(0);
    const { out } = await run('job', 'result', id.trim(), '--json');
    const { result } = JSON.parse(out) as { result: { images: { image_path: string }[] } };
    expect(result.images.map(({ image_path }) => image_path)).toEqual(NAMES.map(inFolder));
    const table = (await run('job', 'result', id.trim())).out;
    expect(table).not.toMatch(/\p{Cc}(?<!\n)|\u202e/u);
    const shown = String.raw`names/escape \u001b[2J\u0007.png`;
    expect(table.split('\n').filter((line) => line.startsWith('names/'))).toHaveLength(
      NAMES.length,
    );
    expect(table).toContain(shown);
  });

  const inFolder = (name: string) => `names/${name}`;
});
