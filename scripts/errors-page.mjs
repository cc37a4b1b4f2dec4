// Writes the table of docs/errors.md from the rows of src/api/errors.ts and src/api/error-advice.ts; with --check, only
// checks whether it is up to date. The text around the table is written by hand.
//
//   node scripts/errors-page.mjs [--check]
import { fileURLToPath } from 'node:url';
import { tsImport } from 'tsx/esm/api';
import { table, writeTables } from './generated.mjs';

const PAGE = fileURLToPath(new URL('../docs/errors.md', import.meta.url));
const { ERRORS } = await tsImport('../src/api/errors.ts', import.meta.url);
const { ERROR_ADVICE } = await tsImport('../src/api/error-advice.ts', import.meta.url);

const HEAD = ['code', 'status', 'when', 'what to do', 'repeat the same call'];

function repeat(code) {
  const { status } = ERRORS[code];
  if (status === 429 || status === 503) return 'after `Retry-After`';
  return ERROR_ADVICE[code].mayPass ? 'after a pause' : 'no';
}

/** A page of this folder, or of the project, that a text names. */
const linked = (text) =>
  text
    .replaceAll(/docs\/([\w-]+\.md)/g, '[$1]($1)')
    .replaceAll('SECURITY.md', '[SECURITY.md](../SECURITY.md)');

const rows = (codes) =>
  codes.map((code) => {
    const { when, remedy } = ERROR_ADVICE[code];
    return [`\`${code}\``, ERRORS[code].status, linked(when), linked(remedy), repeat(code)];
  });

const codes = Object.keys(ERRORS);
const codesOf = (...parts) => codes.filter((code) => parts.includes(ERRORS[code].of));

await writeTables(PAGE, {
  'errors of requests': table(HEAD, rows(codesOf('request'))),
  'errors of jobs': table(HEAD, rows(codesOf('job'))),
  'errors of images and models': table(HEAD, rows(codesOf('image', 'model'))),
  'errors of the machine': table(HEAD, rows(codesOf('worker', 'detector', 'store', 'service'))),
});
