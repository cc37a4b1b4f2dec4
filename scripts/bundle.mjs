// For `vite build --config`: bundles the programs of dist/, with the packages that a start loads, into dist/bundle/.
// The compiled file of a program then only loads its bundle: Node finds, opens and links a few files in place of 600,
// which took more than half of the CPU time of a start. The other compiled files stay: scripts and tests import single
// ones. The bundles are CommonJS, because only a script can take compiled code that was stored (load-bundle.cjs).
import { execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
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

/** The loader makes a function of a bundle, where the line for the shell has no place. */
const functionBodies = {
  name: 'function-bodies',
  generateBundle(_, bundles) {
    for (const bundle of Object.values(bundles)) {
      if (bundle.type === 'chunk') bundle.code = bundle.code.replace(/^#!.*\n/, '');
    }
  },
};

const loadedBundles = {
  name: 'loaded-bundles',
  writeBundle() {
    copyFileSync(join(ROOT, 'scripts/load-bundle.cjs'), join(BUNDLE, 'load.cjs'));
    for (const name of PROGRAMS) {
      const compiled = join(DIST, `${name}.js`);
      const loader = relative(dirname(compiled), join(BUNDLE, 'load.cjs'));
      const start = name === 'cli/lattice' ? '#!/usr/bin/env node\n' : '';
      const lines = `import { load } from './${loader}';\nload('${basename(name)}.cjs');\n`;
      writeFileSync(compiled, start + lines);
    }
    const bundles = PROGRAMS.map((name) => `${basename(name)}.cjs`);
    execFileSync(process.execPath, [join(ROOT, 'scripts/store-code.cjs'), ...bundles]);
  },
};

export default defineConfig({
  root: ROOT,
  logLevel: 'warn',
  publicDir: false,
  plugins: [compiledPlaces, functionBodies, loadedBundles],
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
      output: {
        // A script with stored code cannot import.
        dynamicImportInCjs: false,
        format: 'cjs',
        entryFileNames: '[name].cjs',
        chunkFileNames: '[name]-[hash].cjs',
      },
    },
  },
});
