import { expect, vi } from 'vitest';

/** Ends the wait for what never happens; a tenth of a CPU is no failure. Shorter than a test's time: the wait fails. */
export const HANG_MS = 180_000;

/** Repeats an assertion until it holds. A busy machine can delay a file's write by seconds. */
export const eventually = <T>(assertion: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(assertion, { timeout: HANG_MS, interval: 20 });

/** The same for one value: `await eventual(read).toBe(3)`. */
export const eventual = <T>(read: () => T | Promise<T>) =>
  expect.poll(read, { timeout: HANG_MS, interval: 20 });

/** Resolves once `check` is true; asks every 5 ms. `what` is said of a wait that hangs. */
export async function until(
  check: () => boolean | Promise<boolean>,
  what = String(check),
): Promise<void> {
  const deadline = performance.now() + HANG_MS;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`Not within ${HANG_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
