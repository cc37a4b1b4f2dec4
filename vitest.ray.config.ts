import { defineConfig } from 'vitest/config';
import ordinary from './vitest.config.js';

/** Tests on a real Ray, run by scripts/test-ray.mjs: one file at a time, since Ray's ports are fixed. */
export default defineConfig({
  ...ordinary,
  test: {
    ...ordinary.test,
    include: ['test/real-ray/**/*.test.ts'],
    exclude: [],
    env: {}, // Ray counts the GPUs that it is told of
    fileParallelism: false,
  },
});
