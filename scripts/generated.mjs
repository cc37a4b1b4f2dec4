// Parts that the scripts which generate files from the sources have in common.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const CLI = fileURLToPath(new URL('../src/cli/lattice.ts', import.meta.url));

/** The OpenAPI document of these sources. */
export const readOpenApi = () =>
  JSON.parse(
    execFileSync(process.execPath, ['--import', 'tsx', CLI, 'openapi'], {
      maxBuffer: 16 * 1024 * 1024,
    }),
  );

/** Writes the file; with --check it only says whether the file has this text, and fails where it has not. */
export function writeOrCheck(path, text) {
  if (!process.argv.includes('--check')) {
    writeFileSync(path, text);
  } else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    const script = basename(process.argv[1]);
    console.error(`${path} is out of date. Run: node scripts/${script}`);
    process.exitCode = 1;
  }
}

const cell = (text) => String(text).replaceAll('|', '\\|').replaceAll('\n', ' ');

/** A table of Markdown. */
export const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows]
    .map((row) => `| ${row.map(cell).join(' | ')} |`)
    .join('\n');

/** Writes the tables of a page between their marks: `<!-- NAME -->` and `<!-- end of NAME -->`. */
export async function writeTables(page, tables) {
  let text = readFileSync(page, 'utf8');
  for (const [name, content] of Object.entries(tables)) {
    const [start, end] = [`<!-- ${name} -->\n`, `<!-- end of ${name} -->`];
    const [before, rest] = text.split(start);
    const [, after] = rest.split(end);
    text = `${before}${start}\n${content}\n\n${end}${after}`;
  }
  writeOrCheck(page, await format(text, { ...(await resolveConfig(page)), parser: 'markdown' }));
}
