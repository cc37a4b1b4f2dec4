import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../src/base/make-folder.js';

test('makes the folders above, closed to others, and leaves what is there', () => {
  const base = mkdtempSync(join(tmpdir(), 'lattice-folder-'));
  const folder = join(base, 'a', 'b');
  makeFolder(folder);
  makeFolder(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  rmSync(base, { recursive: true });
});

test('returns with an error where the kernel makes no folders', () => {
  expect(() => {
    makeFolder('/proc/nope/data');
  }).toThrow(/ENOENT/);
  expect(existsSync('/proc/nope')).toBe(false);
});
