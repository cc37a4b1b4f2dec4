import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addName, partOf, placeCopy } from '../../../src/cli/run/place-file.js';

let folder: string;
let from: string;
let to: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-place-'));
  [from, to] = [join(folder, 'a.jpg'), join(folder, 'b.jpg')];
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

test.each([
  [addName, 'here'],
  [placeCopy, 'before'],
])('%o removes the part that a killed process left beside a whole copy', async (place, placing) => {
  for (const file of [from, to, String(partOf(to))]) {
    writeFileSync(file, 'a picture');
    utimesSync(file, 1e9, 1e9);
  }
  expect(await place(from, to)).toBe(placing);
  expect(existsSync(partOf(to))).toBe(false);
  expect([from, to].map((file) => readFileSync(file, 'utf8'))).toEqual(['a picture', 'a picture']);
});
