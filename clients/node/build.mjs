// Makes the package's files from the compiled client of the project; `npm run pack:client` runs it before
// `npm pack`, which looks for ws before it runs a script of its own.
//
//   dist/*.js, *.d.ts   as compiled, for Node
//   dist/records.d.ts   the shapes of the service's schemas as plain types: the package needs no zod
//   dist/browser.js     one file, with the WebSocket of the browser
//   node_modules/ws     goes into the package, so that it installs without a registry
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { plainTypes } from './plain-types.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(HERE, '../..');
const COMPILED = join(ROOT, 'dist/client');
const DIST = join(HERE, 'dist');

if (!existsSync(join(COMPILED, 'lattice-client.js'))) {
  console.error(
    'The client is not compiled: run `npm run setup` in the folder of the project first.',
  );
  process.exit(1);
}

rmSync(DIST, { recursive: true, force: true });
mkdirSync(DIST);
for (const file of readdirSync(COMPILED)) {
  if (/(?<!^records\.d)\.(?:js|ts)$/.test(file)) cpSync(join(COMPILED, file), join(DIST, file));
}
writeFileSync(join(DIST, 'records.d.ts'), plainTypes(join(ROOT, 'src/client/records.ts'), ROOT));
cpSync(join(ROOT, 'LICENSE'), join(HERE, 'LICENSE'));

await build({
  configFile: false,
  root: HERE,
  logLevel: 'warn',
  publicDir: false,
  resolve: { alias: { './event-socket.js': './browser-event-socket.js' } },
  build: {
    outDir: DIST,
    emptyOutDir: false,
    target: 'es2022',
    minify: false,
    lib: {
      entry: join(DIST, 'lattice-client.js'),
      formats: ['es'],
      fileName: () => 'browser.js',
    },
  },
});

const bundled = join(HERE, 'node_modules/ws');
rmSync(bundled, { recursive: true, force: true });
cpSync(join(ROOT, 'node_modules/ws'), bundled, { recursive: true });
