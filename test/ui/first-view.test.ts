import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { MOST_FONT, MOST_SCRIPT, firstViewOf } from '../../src/ui/first-view.js';
import { PROJECT_ROOT } from '../support/service-process.js';

const file = (fileName: string, content: string, imports: string[] = [], isEntry = false) => ({
  fileName,
  content,
  imports,
  isEntry,
});
const size = (text: string) => gzipSync(text).length;

test('a module counts once when the entry loads it, and not when it comes later', () => {
  const files = [
    file('main.js', 'main', ['shared.js', 'part.js'], true),
    file('part.js', 'part', ['shared.js']),
    file('shared.js', 'shared'),
    file('later.js', 'later', ['shared.js']),
    file('inter.woff2', '0123456789'),
  ];
  const script = size('main') + size('part') + size('shared');
  expect(firstViewOf(files)).toEqual({ script, font: 10 });
});

test('the page as it was built is within its budget', () => {
  const built = join(PROJECT_ROOT, 'dist/ui');
  const bytes = (name: string) => readFileSync(join(built, name));
  expect(gzipSync(bytes('main.js')).length).toBeLessThanOrEqual(MOST_SCRIPT);
  const fonts = readdirSync(built).filter((name) => name.endsWith('.woff2'));
  expect(fonts).toHaveLength(1);
  expect(bytes(fonts[0]!).length).toBeLessThanOrEqual(MOST_FONT);
  expect(bytes('inter-licence.txt').toString()).toContain('SIL OPEN FONT LICENSE');
  const licences = bytes('licences.txt').toString();
  for (const name of ['preact', '@preact/signals', 'uplot']) expect(licences).toContain(name);
});
