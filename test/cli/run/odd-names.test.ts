/** `lattice run --service` over files whose names are hard to say, compared with the same run in its own process. */
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LatticeClient } from '../../../src/client/lattice-client.js';
import { FEW_THREADS, PICTURE } from '../../support/service-client.js';
import { startService, type ServiceProcess } from '../../support/service-process.js';
import { runCommand } from '../run-command.js';

const MODEL = ['--model', 'tiny-v8'];
const STEMS = [
  ...['a\nb', ' blank', 'blank ', '-', '--drawn', 'a:b', 'http:', 'c\u0001d\u001b[31m', '*', '**'],
  ...['{a,b}', '[z]', 'back\\slash', '%FF', 'e\u0301', '\u00e9', '\u202eg', '"quoted"', "it's"],
  ...['tab\t', 'cr\r', '\u2028', '=1+1', 'data:image,x', '~', 'l'.repeat(251), '#', 'a?b#c'],
  ...['\u{1f697}', '&lt;', '<b>', '$(x)'],
];

let folder: string;
let from: string;
let service: ServiceProcess;
let picture: Buffer;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'lattice-odd-')));
  from = join(folder, 'volume', 'odd\nphotos [*]');
  picture = await sharp(PICTURE).resize(64, 48).jpeg().toBuffer();
  const below = join(from, 'a\n* [b] {c,d}\u0007');
  mkdirSync(below, { recursive: true });
  for (const stem of STEMS) writeFileSync(join(from, `${stem}.jpg`), picture);
  writeFileSync(join(below, 'in.jpg'), picture);
  writeFileSync(
    Buffer.concat([Buffer.from(`${from}/`), Buffer.from('f\xfc\xff.jpg', 'latin1')]),
    picture,
  );
  const outside = join(folder, 'outside.jpg');
  writeFileSync(outside, picture);
  symlinkSync(outside, join(from, 'leads [out].jpg'));
  symlinkSync(join(folder, 'nowhere.jpg'), join(from, 'leads *nowhere.jpg'));
  service = await startService({
    env: { ...FEW_THREADS, LATTICE_IMAGE_ROOTS: join(folder, 'volume'), LATTICE_PRECISION: 'f32' },
  });
}, 120_000);

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const atService = (args: string[], out: string, input = '') =>
  runCommand([...args, '--out', join(folder, out), ...MODEL, '--service', service.url], { input });

interface Line {
  image_path: string;
  status: string;
  error?: { code: string };
}

/** The outcome of each image, by its path. */
const outcomesOf = (out: string) =>
  new Map(
    readFileSync(join(folder, out, 'results.ndjson'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
      .map(({ image_path: path, status, error }) => [path, error?.code ?? status]),
  );

test('each file has the outcome of a run in its own process', async () => {
  const own = await runCommand([
    ...[from, '--out', join(folder, 'own'), '--drawn'],
    ...[...MODEL, '--precision', 'f32'],
  ]);
  const remote = await atService([from, '--drawn'], 'remote');
  expect([own.code, remote.code], remote.err).toEqual([3, 3]);
  const outcomes = outcomesOf('remote');
  expect(outcomes).toEqual(outcomesOf('own'));
  expect(outcomes.size).toBe(STEMS.length + 3);
  const bad = [...outcomes].filter(([, outcome]) => outcome !== 'ok');
  expect(bad).toEqual([[join(from, 'leads [out].jpg'), 'path_not_allowed']]);
  expect(outcomes.get(join(from, 'f%FC%FF.jpg'))).toBe('ok');
  expect(remote.err).not.toContain('Without a picture');
  const [here, there] = ['own', 'remote'].map((run) =>
    readFileSync(join(folder, run, 'drawn.csv'), 'utf8'),
  );
  expect(there).toBe(here);
});

test('what no job can have is counted with its reason; a folder and lost names of a list are failed images', async () => {
  const plain = join(folder, 'volume', 'plain');
  mkdirSync(plain);
  const good = join(plain, '-.jpg');
  writeFileSync(good, picture);
  const outside = join(folder, 'outside.jpg');
  const long = join(plain, 'd/'.repeat(2_100), 'x.jpg');
  const lost = ['lost*.jpg', 'lost', '[lost] {a,b}'].map((name) => join(plain, name));
  const list = [good, outside, long, plain, ...lost];
  const ended = await atService(['-'], 'list', `${list.join('\n')}\n`);
  expect(ended, ended.err).toMatchObject({ code: 3 });
  expect([...outcomesOf('list')]).toEqual([
    [good, 'ok'],
    [plain, 'not_a_regular_file'],
    ...lost.map((path) => [path, 'image_not_found']),
  ]);
  expect(ended.err).toContain('2 files left out: the service takes no such path.\n');
  expect(ended.err).toContain(
    `  ${outside}: An absolute path must lie beneath an image root. (path_not_allowed)\n`,
  );
  expect(ended.err).toContain('x.jpg: A path has at most 4096 bytes. (validation_failed)\n');
  const client = new LatticeClient({ url: service.url });
  for await (const job of client.list()) expect(job.title).not.toMatch(/\p{Cc}/u);
});
