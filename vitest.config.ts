import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Threads and processes of their own cannot load TypeScript: point them at the compiled twin that set-up leaves in dist/. */
const compiledThreads = {
  name: 'compiled-threads',
  // Before the TypeScript is compiled: the pattern is the source's own spelling.
  enforce: 'pre' as const,
  transform(code: string, id: string): string | undefined {
    if (!id.includes('/src/')) return undefined;
    return code.replace(
      /new URL\('(\.\/[\w-]+-(?:thread|process)\.js)', import\.meta\.url\)/g,
      (_match, file: string) => {
        const compiled = join(dirname(id).replace('/src', '/dist'), file);
        return `new URL(${JSON.stringify(pathToFileURL(compiled).href)})`;
      },
    );
  },
};

export default defineConfig({
  plugins: [compiledThreads],
  test: {
    include: ['test/**/*.test.ts'],
    // They need a Ray cluster: see vitest.ray.config.ts.
    exclude: ['test/real-ray/**'],
    // The addon and the store own threads and files: one process per test file keeps them apart.
    pool: 'forks',
    maxWorkers: 2,
    // A GPU builds its engines for minutes: what runs on one is for `npm run test:gpu`.
    env: { CUDA_VISIBLE_DEVICES: '' },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    // On CI's two cores a test can miss a deadline by bad luck. The report marks each second try.
    retry: process.env.CI ? 1 : 0,
  },
});
