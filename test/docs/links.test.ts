/** Links between pages lead somewhere, and the files that pages name exist. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { globSync } from 'tinyglobby';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../support/service-process.js';

const PAGES = globSync(['llms.txt', '*.md', '*/*.md', '*/*/*.md'], {
  cwd: PROJECT_ROOT,
  ignore: ['**/node_modules/**'],
});

const read = (page: string) => readFileSync(join(PROJECT_ROOT, page), 'utf8');

/** As GitHub makes them of headings. */
function anchorsOf(page: string): string[] {
  const headings = [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test.each(PAGES)('links of %s', (page) => {
  for (const [, link] of read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
    const [path, anchor] = link!.split('#') as [string, string?];
    const target = path === '' ? page : join(dirname(page), path);
    expect(existsSync(join(PROJECT_ROOT, target)), `${page}: ${link}`).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(target), `${page}: ${link}`).toContain(anchor);
  }
});

test.each(PAGES)('sources that %s names', (page) => {
  for (const [, path] of read(page).matchAll(
    /(?<![\w/.-])((?:src|native|test|scripts)\/[\w/.-]*\w)/g,
  )) {
    expect(existsSync(join(PROJECT_ROOT, path!)), `${page}: ${path}`).toBe(true);
  }
});
