import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Brings the addon and dist/ up to date: no test runs a stale build.
    globalSetup: ['scripts/setup.mjs', 'test/support/say-left-out.ts'],
    // They need a Ray cluster, or another addon: see vitest.ray.config.ts and vitest.simulated-gpu.config.ts.
    exclude: ['test/real-ray/**', 'test/simulated-gpu/**'],
    // The addon and the store own threads and files: one process per test file keeps them apart.
    pool: 'forks',
    execArgv: ['--import', new URL('test/support/compiled-threads.mjs', import.meta.url).href],
    maxWorkers: 2,
    // A GPU builds its engines for minutes: what runs on one is for `npm run test:gpu`.
    env: { CUDA_VISIBLE_DEVICES: '' },
    // They only end what hangs: at a tenth of a CPU, a test of 10 s takes minutes.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 180_000 } },
  },
});
