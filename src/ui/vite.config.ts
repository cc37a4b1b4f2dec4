/** Bundles the page into `dist/ui`: flat lower-case names, as the route serves them. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';
import { firstViewBudget } from './first-view.js';

const FONT = dirname(
  createRequire(import.meta.url).resolve('@fontsource-variable/inter/package.json'),
);

/** The licence of the font asks to lie beside it. */
const fontLicence: Plugin = {
  name: 'font-licence',
  generateBundle() {
    const source = readFileSync(join(FONT, 'LICENSE'), 'utf8');
    this.emitFile({ type: 'asset', fileName: 'inter-licence.txt', source });
  },
};

export default defineConfig({
  root: import.meta.dirname,
  base: '/ui/',
  publicDir: false,
  logLevel: 'warn',
  resolve: { alias: { './event-socket.js': './browser-event-socket.js' } },
  plugins: [fontLicence, firstViewBudget()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../dist/ui',
    emptyOutDir: true,
    // Licences of the packages in the scripts, which ask to be named.
    license: { fileName: 'licences.txt' },
    target: 'es2022',
    // The page's policy refuses `data:` addresses.
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: false,
    rolldownOptions: {
      output: {
        entryFileNames: 'main.js',
        chunkFileNames: '[name].js',
        assetFileNames: '[name][extname]',
      },
    },
  },
});
