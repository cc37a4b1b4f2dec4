import { expect, test } from 'vitest';
import type { Timings } from '../../../src/api/schemas/image.js';
import { measureLevel } from '../../../src/cli/bench/level.js';
import {
  constantArrivals,
  openLoop,
  type Finished,
  type Note,
} from '../../../src/cli/bench/load.js';

const TIMINGS = { queue: 1, decode: 2, preprocess: 3, inference: 4, postprocess: 5 };
const OPTIONS = {
  measurementInterval: 30,
  stabilityPercentage: 400,
  percentile: 95,
  maxTrials: 5,
};
const never = new AbortController().signal;

/** Ends one request per millisecond, with what `finish` gives for its number. */
function steady(finish: (turn: number) => Finished<Timings>) {
  let stopped = 0;
  const start = (note: Note<Timings>) => {
    let turn = 0;
    const timer = setInterval(() => {
      note(finish(turn++));
    }, 1);
    return {
      stop: () => {
        clearInterval(timer);
        stopped += 1;
      },
      ended: Promise.resolve(),
    };
  };
  return { start, stopped: () => stopped };
}

test('a level ends when three windows agree, and has the figures of those', async () => {
  const load = steady(() => ({ ms: 10, answer: TIMINGS, error: null }));
  const level = await measureLevel(load.start, OPTIONS, never);
  expect(level).toMatchObject({ stable: true, errors: {}, deciding_ms: 10 });
  expect(level.latency_ms).toEqual({ mean: 10, p50: 10, p90: 10, p95: 10, p99: 10, max: 10 });
  expect(level.server_ms).toMatchObject(TIMINGS);
  expect(load.stopped()).toBe(1);
});

test('latency that keeps growing is told as not stable', async () => {
  const load = steady((turn) => ({ ms: 10 ** turn, answer: TIMINGS, error: null }));
  const level = await measureLevel(load.start, OPTIONS, never);
  expect(level.stable).toBe(false);
});

test('a window of failures alone ends the level', async () => {
  const load = steady(() => ({ ms: 1, answer: null, error: 'overloaded' }));
  const level = await measureLevel(load.start, { ...OPTIONS, maxTrials: 1_000 }, never);
  expect(level).toMatchObject({ requests: 0, stable: false });
  expect(level.errors.overloaded).toBeGreaterThan(0);
});

test('a signal ends it, and the load with it', async () => {
  const load = steady(() => ({ ms: 1, answer: TIMINGS, error: null }));
  await expect(measureLevel(load.start, OPTIONS, AbortSignal.abort())).rejects.toThrow('aborted');
  expect(load.stopped()).toBe(1);
});

test('the open loop counts from the moment a request was due, so a stall shows', async () => {
  const finished: Finished<Timings>[] = [];
  let stalled = false;
  const load = openLoop(
    constantArrivals(200),
    () => {
      // As a service, or a client, that stands still for 100 ms.
      for (const end = performance.now() + 100; !stalled && performance.now() < end;);
      stalled = true;
      return Promise.resolve(TIMINGS);
    },
    (each) => finished.push(each),
  );
  await expect.poll(() => finished.length).toBeGreaterThan(15);
  load.stop();
  await load.ended;
  // Those that were due in the meantime waited for the rest of it: 100 ms, 95 ms, 90 ms and so on.
  expect(finished.filter(({ ms }) => ms > 40).length).toBeGreaterThan(8);
});
