/** The files that `scripts/bundle.mjs` puts into dist/bundle/. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../support/service-process.js';

const PERMISSIVE = ['Apache-2.0', 'BlueOak-1.0.0', 'MIT', 'Unlicense'];

test('the bundled packages are named beside the bundles, with the text of a permissive licence', () => {
  const text = readFileSync(join(PROJECT_ROOT, 'dist/bundle/licences.txt'), 'utf8');
  const named = [...text.matchAll(/^## (\S+) - \S+ \((.*)\)\n\n(\S?)/gm)];

  expect(named.map(([, name]) => name)).toEqual(expect.arrayContaining(['hono', 'ws', 'zod']));
  expect(named.filter(([, , licence = '']) => !PERMISSIVE.includes(licence))).toEqual([]);
  expect(named.filter(([, , , start]) => start === '')).toEqual([]);
});
