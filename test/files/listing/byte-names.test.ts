/** Names of files as text, and back to their bytes. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pathOnDisk, shownName } from '../../../src/files/listing/byte-names.js';

let root: string;
const latin1 = (text: string) => Buffer.from(text, 'latin1');

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'lattice-byte-names-'));
  mkdirSync(Buffer.concat([Buffer.from(`${root}/`), latin1('z\xfcri')]));
  writeFileSync(join(root, '%E9.jpg'), '');
});
afterAll(() => {
  rmSync(root, { recursive: true });
});

test.each([
  ['plain %20.jpg', 'plain %20.jpg'],
  ['caf\xe9.jpg', 'caf%E9.jpg'],
  ['\x80\xff', '%80%FF'],
  ['\xc3\xa9', 'é'],
  ['\xc3\xa9\xff', '%C3%A9%FF'],
])('%j is shown as %s', (bytes, shown) => {
  expect(shownName(latin1(bytes))).toBe(shown);
});

test.each([
  ['z%FCri/caf%E9.jpg', 'z\xfcri/caf\xe9.jpg'],
  ['z%FCri', 'z\xfcri'],
  ['é%FF', '\xc3\xa9\xff'],
])('%s leads to its bytes', async (relative, bytes) => {
  const onDisk = Buffer.concat([Buffer.from(`${root}/`), latin1(bytes)]);
  expect(await pathOnDisk(root, relative)).toEqual(onDisk);
});

test.each(['%E9.jpg', 'a.jpg', '%e9', '%20', '%2e%2E', '%00'])(
  '%s is its own name',
  async (name) => {
    expect(await pathOnDisk(root, name)).toBe(join(root, name));
  },
);
