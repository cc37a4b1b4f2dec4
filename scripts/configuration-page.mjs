// Writes docs/configuration.md from the settings of src/settings/settings.ts; with --check, only checks whether it is
// up to date.
//
//   node scripts/configuration-page.mjs [--check]
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { tsImport } from 'tsx/esm/api';
import { writeOrCheck } from './generated.mjs';

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

<!-- Generated from src/settings/settings.ts by scripts/configuration-page.mjs; edit there, then run that script. -->

Every setting can be given in three ways, in this order of precedence:

1. a flag of \`lattice serve\`,
2. an environment variable,
3. a key of a JSON file named by \`--config FILE\` or \`LATTICE_CONFIG\`; keys are in camel case (\`imageRoots\`).

Relative paths are resolved against the working directory, those of the defaults against the project's folder; in
[the package](package.md) data and models lie in the working directory.
An invalid value is named and the service does not start. \`lattice doctor\` checks folders, port and device.

| Environment variable | Flag | Default | Meaning |
| --- | --- | --- | --- |
${rows.map((row) => `| ${row} |`).join('\n')}

Example of such a file:

\`\`\`json
{ "imageRoots": "/srv/photos:/srv/archive", "modelsDir": "/srv/models", "port": 8080, "logLevel": "debug" }
\`\`\`

## Who may call the service

- **API keys** (\`LATTICE_API_KEYS_FILE\`): a missing or unknown key is answered 401. After five unknown keys from one
  address (from one /64 network for IPv6), the next answers are delayed: by 250 ms, doubled each time up to 8 s, until ten
  minutes have passed without an unknown key. While 1,000 answers wait, further unknown keys get 429 with \`Retry-After\`. A
  known key never waits. Behind a proxy all clients share the address of the proxy.
- **Host**: on a loopback address a request must name \`localhost\`, \`127.0.0.1\`, \`[::1]\`, \`host.docker.internal\`, the
  listening address or the host of an origin in \`LATTICE_CORS_ORIGINS\`, with any port; any other is answered 403. This
  stops web pages whose name resolves to this machine.
- **Web pages** of the service and of the origins in \`LATTICE_CORS_ORIGINS\` may do all that programs may. Pages of other origins
  read texts and detect, in development only; pictures (drawn copies too) and whatever lasts or goes out are answered 403:
  watches, aliases, views, uploads, labels, retry, cancel, reload, and \`callback_url\`, \`keep\`, \`upload\` and \`annotate\` of a
  job ([how](../SECURITY.md#how)). \`LATTICE_BROWSE=false\` switches \`GET /v1/images\` and \`GET /v1/images/file\` off for everyone.
- **Connections**: a request must arrive within 30 s, its head within 10 s. A client that reads nothing of its answer for
  60 s is disconnected. At a stop, connections without a request in progress are closed at once
  ([all deadlines](lifecycle.md#deadlines)).
`;

writeOrCheck(PAGE, await format(text, { ...(await resolveConfig(PAGE)), parser: 'markdown' }));
