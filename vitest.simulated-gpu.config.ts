import { defineConfig } from 'vitest/config';
import ordinary from './vitest.config.js';

/** The service on simulated GPUs, run by scripts/test-native.mjs, which builds the addon for it. */
export default defineConfig({
  ...ordinary,
  test: {
    ...ordinary.test,
    include: ['test/simulated-gpu/**/*.test.ts'],
    exclude: [],
    globalSetup: [],
    env: {},
  },
});
