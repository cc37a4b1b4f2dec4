// For `vite build --config`: bundles the programs of dist/, with the packages that a start loads, into dist/bundle/.
// The compiled file of a program then only imports its bundle: Node finds, opens and links a few files in place of 600,
// which took more than half of the CPU time of a start. The other compiled files stay: scripts and tests import single
// ones.
import { writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = join(ROOT, 'src/');
const DIST = join(ROOT, 'dist');
const BUNDLE = join(DIST, 'bundle');
/** Without `.ts` or `.js`. */
const PROGRAMS = [
  'cli/lattice',
  'worker',
  'store/store-thread',
  'files/listing/listing-process',
  'files/listing/scan-process',
];
/** They find files beside their own, or are loaded only where they are used or installed. */
const NOT_BUNDLED = [
  /^@grpc\//,
  /^@opentelemetry\/(?!api$)/,
  '@photostructure/sqlite',
  'bufferutil',
  'opentype.js',
  'pino-pretty',
  'sharp',
  'utf-8-validate',
];

/** A module finds the files beside it where the compiler has put it. */
const compiledPlaces = {
  name: 'compiled-places',
  enforce: 'pre',
  transform(code, id) {
    if (!id.startsWith(SOURCES) || !code.includes('import.meta.url')) return null;
    const place = join(DIST, relative(SOURCES, id).replace(/\.ts$/, '.js'));
    const url = `new URL('${relative(BUNDLE, place)}', import.meta.url).href`;
    return { code: code.replaceAll('import.meta.url', url), map: null };
  },
};

const importedBundles = {
  name: 'imported-bundles',
  writeBundle() {
    for (const name of PROGRAMS) {
      const compiled = join(DIST, `${name}.js`);
      const bundle = relative(dirname(compiled), join(BUNDLE, `${basename(name)}.js`));
      const start = name === 'cli/lattice' ? '#!/usr/bin/env node\n' : '';
      writeFileSync(compiled, `${start}import './${bundle}';\n`);
    }
  },
};

export default defineConfig({
  root: ROOT,
  logLevel: 'warn',
  publicDir: false,
  plugins: [compiledPlaces, importedBundles],
  ssr: { noExternal: true },
  build: {
    ssr: true,
    outDir: BUNDLE,
    emptyOutDir: true,
    // Licences of the packages in the bundles, which ask to be named.
    license: { fileName: 'licences.txt' },
    target: 'es2022',
    rolldownOptions: {
      input: PROGRAMS.map((name) => join(SOURCES, `${name}.ts`)),
      external: NOT_BUNDLED,
      output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
});
