/** When requests of an open loop arrive, and waiting for that moment. */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds from the start, ascending: a Poisson process of `rate` per second. `random` is in [0, 1). */
export function* poissonArrivals(
  rate: number,
  seconds: number,
  random: () => number = Math.random,
): Generator<number> {
  let due = 0;
  for (;;) {
    due += (-Math.log(1 - random()) / rate) * 1_000;
    if (due > seconds * 1_000) return;
    yield due;
  }
}

/** Milliseconds from the start, ascending and without end: `rate` per second at equal gaps. */
export function* constantArrivals(rate: number): Generator<number> {
  for (let each = 0; ; each += 1) yield (each * 1_000) / rate;
}

/**
 * Resolves once `performance.now()` is at `due`, never before. Answers, timers and aborts run first, even where `due` is
 * long past: a sender that is late and did not wait at all would block the answers that it measures. A timer has whole
 * milliseconds only, so the rest of the last one is spent in turns of the event loop.
 */
export async function untilDue(due: number): Promise<void> {
  const wait = due - performance.now();
  if (wait >= 1) await sleep(wait);
  do await turn();
  while (performance.now() < due);
}
