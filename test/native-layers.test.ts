import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PROJECT_ROOT } from './support/service-process.js';

let root: string;

function write(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

function check(...args: string[]) {
  const script = join(PROJECT_ROOT, 'scripts/native-layers.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
  return { status, stderr };
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lattice-layers-'));
  write(
    'native/CMakeLists.txt',
    'add_subdirectory(base)\n# add_subdirectory(old)\nif(X)\n  add_subdirectory(image)\nendif()\n',
  );
  write('native/image/decode.cc', '#include "native/image/decode.h"\n#include "native/base/a.h"\n');
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

test('native/ keeps its layers', () => {
  expect(check()).toEqual({ status: 0, stderr: '' });
});

test('a folder may include itself and those above it', () => {
  expect(check(root)).toEqual({ status: 0, stderr: '' });
});

test.each([
  ['native/base/a.h', '  # include "native/image/decode.h"', 'base may not include image'],
  ['native/base/deep/a.cu', '#include <native/image/decode.h>', 'base may not include image'],
  ['native/image/a.h', '#include "native/old/a.h"', 'image may not include old'],
  ['native/old/a.h', '', 'CMakeLists.txt adds no old'],
])('%s with %s is refused', (file, text, fault) => {
  write(file, `// A comment.\n${text}\n`);
  const { status, stderr } = check(root);
  expect(status).toBe(1);
  expect(stderr).toContain(`${file}: ${fault}`);
});

test('a tree in which nothing was found is no tree that was checked', () => {
  write('native/image/decode.cc', '');
  expect(check(root)).toMatchObject({ status: 1, stderr: expect.stringContaining('nothing') });
});
