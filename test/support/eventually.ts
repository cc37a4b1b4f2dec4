import { expect, vi } from 'vitest';

/** Shorter than a test's time, so that the assertion is what fails. */
const TIMEOUT_MS = 25_000;

/** Repeats an assertion until it holds. A busy machine can delay a file's write by seconds. */
export const eventually = <T>(assertion: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(assertion, { timeout: TIMEOUT_MS, interval: 20 });

/** The same for one value: `await eventual(read).toBe(3)`. */
export const eventual = <T>(read: () => T | Promise<T>) =>
  expect.poll(read, { timeout: TIMEOUT_MS, interval: 20 });
