/** The files that `scripts/bundle.mjs` puts into dist/bundle/. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { PROJECT_ROOT } from '../support/service-process.js';

const PERMISSIVE = ['Apache-2.0', 'BlueOak-1.0.0', 'MIT', 'Unlicense'];

test('the bundled packages are named beside the bundles, with the text of a permissive licence', () => {
  const text = readFileSync(join(PROJECT_ROOT, 'dist/bundle/licences.txt'), 'utf8');
  const named = [...text.matchAll(/^## (\S+) - \S+ \((.*)\)\n\n(\S?)/gm)];

  expect(named.map(([, name]) => name)).toEqual(expect.arrayContaining(['hono', 'ws', 'zod']));
  expect(named.filter(([, , licence = '']) => !PERMISSIVE.includes(licence))).toEqual([]);
  expect(named.filter(([, , , start]) => start === '')).toEqual([]);
});

/** The answer of a bundle with this text in a process of its own, which then stores the code where asked. */
function loadIn(folder: string, text: string, store = false): string {
  writeFileSync(join(folder, 'a.cjs'), text);
  const script = `const { load, storeCode } = require('./load.cjs');
    console.log(load('a.cjs').answer());
    if (${store}) storeCode([]);`;
  return execFileSync(process.execPath, ['-e', script], { cwd: folder, encoding: 'utf8' }).trim();
}

test('code that was stored runs only for the text that it was made of, and only as it was stored', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lattice-bundle-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  copyFileSync(join(PROJECT_ROOT, 'dist/bundle/load.cjs'), join(folder, 'load.cjs'));
  const text = `exports.answer = () => 'one';`;

  expect(loadIn(folder, text, true)).toBe('one');
  expect(loadIn(folder, text)).toBe('one');
  expect(loadIn(folder, text.replace('one', 'two'))).toBe('two');

  const code = readFileSync(join(folder, 'a.cjs.code'));
  for (const length of [0, 31, code.length - 1]) {
    writeFileSync(join(folder, 'a.cjs.code'), code.subarray(0, length));
    expect(loadIn(folder, text)).toBe('one');
  }
  for (let at = 33; at < code.length; at += 40) {
    const changed = Buffer.from(code);
    changed[at] = 0x55 ^ (changed[at] ?? 0);
    writeFileSync(join(folder, 'a.cjs.code'), changed);
    expect(loadIn(folder, text)).toBe('one');
  }
});
