import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { poissonArrivals, untilDue } from '../../../src/cli/bench/load.js';
import { openLoopFor } from '../../../bench/load/loops.js';
import { randomNumbers } from '../../support/random-numbers.js';

/** Greatest distance between the distribution of `gaps` and the exponential one (Kolmogorov-Smirnov). */
function distanceToExponential(gaps: readonly number[], mean: number): number {
  const sorted = [...gaps].sort((a, b) => a - b);
  return Math.max(
    ...sorted.map((gap, index) => {
      const expected = 1 - Math.exp(-gap / mean);
      const at = [index / sorted.length, (index + 1) / sorted.length];
      return Math.max(...at.map((share) => Math.abs(expected - share)));
    }),
  );
}

/** Keeps the thread for so many milliseconds, as a sender does that copies pixels. */
function hold(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('arrivals', () => {
  it.each([20, 500, 20_000])('come at exponential gaps, %i per second', (rate) => {
    const due = [...poissonArrivals(rate, 10_000 / rate, randomNumbers(rate))];
    const gaps = due.map((at, index) => at - (due[index - 1] ?? 0));
    // 1 % of all samples of an exponential distribution lie further off.
    expect(distanceToExponential(gaps, 1_000 / rate)).toBeLessThan(1.63 / Math.sqrt(gaps.length));
    expect(due.at(-1)).toBeLessThanOrEqual(10_000_000 / rate);
  });

  it('are never early, down to fractions of a millisecond', async () => {
    for (const wait of [-5, 0, 0.3, 0.9, 1.9, 3.5]) {
      const due = performance.now() + wait;
      await untilDue(due);
      expect(performance.now()).toBeGreaterThanOrEqual(due);
    }
  });
});

describe('the open loop', () => {
  it('handles answers and timers while it is behind its schedule', async () => {
    let answered = 0;
    let answeredBeforeTheLastSend = 0;
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 5);
    // 2 ms of work every 0.5 ms: behind from the second request on.
    const { latencies, failures } = await openLoopFor(0.1, 2_000, async () => {
      answeredBeforeTheLastSend = answered;
      hold(2);
      await turn();
      answered += 1;
    });
    clearInterval(timer);
    expect(failures).toBe(0);
    expect(latencies.length).toBeGreaterThan(50);
    expect(answeredBeforeTheLastSend).toBeGreaterThan(latencies.length - 5);
    expect(ticks).toBeGreaterThan(10);
  });

  it('counts the delay of a request that is sent late', async () => {
    // About 200 in 200 ms, of which each takes 2 ms: the last ones wait for about 200 ms.
    const { latencies } = await openLoopFor(0.2, 1_000, () => {
      hold(2);
      return Promise.resolve();
    });
    expect(Math.max(...latencies)).toBeGreaterThan(60);
  });

  it('counts failures separately', async () => {
    const outcome = await openLoopFor(0.05, 2_000, (turn) =>
      turn % 2 === 0 ? Promise.resolve() : Promise.reject(new Error('no')),
    );
    expect(outcome.failures).toBeGreaterThan(0);
    expect(Math.abs(outcome.latencies.length - outcome.failures)).toBeLessThanOrEqual(1);
  });
});
