/** Bundles the page into `dist/ui/main.js`. */
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  logLevel: 'warn',
  build: {
    outDir: '../../dist/ui',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    rolldownOptions: { input: 'main.ts', output: { entryFileNames: 'main.js' } },
  },
});
