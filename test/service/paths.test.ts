/** Hostile and unusual paths over HTTP against a real folder: each a documented problem, fast, no server path shown. */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROJECT_ROOT, startService, type ServiceProcess } from '../support/service-process.js';

const PICTURE = join(PROJECT_ROOT, 'models/demo/shapes.png');
let folder: string;
let root: string;
let service: ServiceProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-paths-'));
  root = join(folder, 'images');
  mkdirSync(join(root, 'inner', 'deep'), { recursive: true });
  mkdirSync(join(folder, 'images-twin'));
  for (const target of [
    'images/good.png',
    'images/inner/good.png',
    'images/-dash.png',
    'images/with space\nand line.png',
    'images/ünïcode-车.png',
    `images/${'n'.repeat(251)}.png`,
    'images-twin/good.png',
    'outside.png',
  ]) {
    copyFileSync(PICTURE, join(folder, target));
  }
  symlinkSync('../good.png', join(root, 'inner', 'link-inside.png'));
  symlinkSync('../outside.png', join(root, 'link-outside.png'));
  symlinkSync(join(folder, 'outside.png'), join(root, 'link-absolute.png'));
  symlinkSync('..', join(root, 'link-up'));
  symlinkSync('nowhere.png', join(root, 'link-dangling.png'));
  symlinkSync('loop.png', join(root, 'loop.png'));
  linkSync(join(root, 'good.png'), join(root, 'hard.png'));
  execFileSync('mkfifo', [join(root, 'fifo.png')]);
  writeFileSync(join(root, 'empty.png'), '');
  writeFileSync(join(root, 'text.jpg'), 'not a picture');
  writeFileSync(join(root, 'sparse.png'), '');
  truncateSync(join(root, 'sparse.png'), 2 ** 40);
  service = await startService({ env: { LATTICE_IMAGE_ROOTS: root } });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  status: number;
  code: string;
  text: string;
}

async function detect(path: string): Promise<Answer> {
  const response = await fetch(`${service.url}/v1/inference/detect`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ image_path: path }),
    signal: AbortSignal.timeout(5_000),
  });
  const text = await response.text();
  return {
    status: response.status,
    code: (JSON.parse(text) as { code?: string }).code ?? 'ok',
    text,
  };
}

test.each([
  ['good.png'],
  ['inner/good.png'],
  ['./good.png'],
  ['inner//good.png'],
  ['inner/link-inside.png'],
  ['hard.png'],
  ['-dash.png'],
  ['with space\nand line.png'],
  ['ünïcode-车.png'],
  [`${'n'.repeat(251)}.png`],
])('%j is read', async (path) => {
  expect(await detect(path)).toMatchObject({ status: 200, code: 'ok' });
});

test('an absolute path beneath a root is read, one beside it is not', async () => {
  expect(await detect(join(root, 'good.png'))).toMatchObject({ status: 200 });
  expect(await detect(join(folder, 'images-twin/good.png'))).toMatchObject({
    status: 422,
    code: 'path_not_allowed',
  });
});

test.each([
  ['../outside.png', 'path_not_allowed'],
  ['inner/../good.png', 'path_not_allowed'],
  ['link-outside.png', 'path_not_allowed'],
  ['link-absolute.png', 'path_not_allowed'],
  ['link-up/outside.png', 'path_not_allowed'],
  ['loop.png', 'path_not_allowed'],
  ['/etc/passwd', 'path_not_allowed'],
  ['/dev/zero', 'path_not_allowed'],
  ['nul\0byte.png', 'path_not_allowed'],
  ['link-dangling.png', 'image_not_found'],
  ['absent.png', 'image_not_found'],
  ['%2e%2e/outside.png', 'image_not_found'],
  ['..\\outside.png', 'image_not_found'],
  [`${'n'.repeat(300)}.png`, 'image_not_found'],
  ['good.png/', 'image_not_found'],
  ['inner', 'not_a_regular_file'],
  ['.', 'not_a_regular_file'],
  ['fifo.png', 'not_a_regular_file'],
  ['empty.png', 'invalid_image'],
  ['text.jpg', 'unsupported_image_format'],
  ['sparse.png', 'image_too_large'],
  ['', 'validation_failed'],
  ['n/'.repeat(2_048) + 'x', 'validation_failed'],
])('%j is refused as %s', async (path, code) => {
  const answer = await detect(path);
  expect(answer).toMatchObject({ status: 422, code });
  expect(answer.text).not.toContain(folder);
});

test('a device beneath a root is no image', async () => {
  await using other = await startService({ env: { LATTICE_IMAGE_ROOTS: '/dev' } });
  const response = await fetch(`${other.url}/v1/inference/detect`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ image_path: 'zero' }),
    signal: AbortSignal.timeout(5_000),
  });
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({ code: 'not_a_regular_file' });
});
