// Writes docs/configuration.md from the settings of src/settings.ts; with --check, only says whether it is up to date.
//
//   node scripts/configuration-page.mjs [--check]
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { tsImport } from 'tsx/esm/api';

const PAGE = fileURLToPath(new URL('../docs/configuration.md', import.meta.url));
const { describeSettings } = await tsImport('../src/cli/setting-flags.ts', import.meta.url);

const cell = (text) => text.replaceAll('|', '\\|');
const code = (text) => (text === '' ? '' : `\`${cell(text)}\``);

const rows = describeSettings().map(({ name, flag, value, fallback, meaning }) =>
  [
    code(name),
    code(value === null ? flag : `${flag} <${value}>`),
    fallback === '' ? '(none)' : code(fallback),
    cell(meaning),
  ].join(' | '),
);

const text = `# Configuration

<!-- Generated from src/settings.ts by scripts/configuration-page.mjs; edit there, then run that script. -->

Every setting can be given in three ways. The first that is there wins:

1. a flag of \`lattice serve\`,
2. an environment variable,
3. a key of a JSON file named by \`--config FILE\` or \`LATTICE_CONFIG\`; keys are in camel case (\`imageRoots\`).

Relative paths start at the working directory; those of the defaults start at the project's folder.
A wrong value stops the start and is named. \`lattice doctor\` checks the folders, the port and the device behind the values.

| Environment variable | Flag | Default | Meaning |
| --- | --- | --- | --- |
${rows.map((row) => `| ${row} |`).join('\n')}

A file with the same names in camel case:

\`\`\`json
{ "imageRoots": "/srv/photos:/srv/archive", "modelsDir": "/srv/models", "port": 8080, "logLevel": "debug" }
\`\`\`
`;

const page = await format(text, { ...(await resolveConfig(PAGE)), parser: 'markdown' });
const present = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '';
if (!process.argv.includes('--check')) {
  writeFileSync(PAGE, page);
} else if (present !== page) {
  console.error('docs/configuration.md is out of date. Run: node scripts/configuration-page.mjs');
  process.exitCode = 1;
}
