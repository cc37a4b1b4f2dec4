/** Two ways to put load on a service until it is told to stop: closed (a client waits for its answer) and open. */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import type { Timings } from '../../api/image.js';

/** A client that was refused rests, so that a service that is away is not asked in a busy loop. */
const REST_MS = 100;
/** Bounds the memory and the sockets of an open loop that the service does not keep up with. */
const MOST_WAITING = 2_048;

export interface Finished {
  /** From sending; in the open loop from the moment when it was due, so that a stall is not hidden. */
  ms: number;
  timings: Timings | null;
  /** Code of a failure; null of an answer with boxes. */
  error: string | null;
}

export interface Load {
  /** Resolves when every request has its answer. */
  stop(): Promise<void>;
}

export type Send = () => Promise<Timings>;
export type Note = (finished: Finished) => void;

export function closedLoop(clients: number, send: Send, note: Note): Load {
  let stopped = false;
  const client = async () => {
    while (!stopped) {
      const finished = await timed(performance.now(), send);
      note(finished);
      if (finished.error !== null) await sleep(REST_MS);
    }
  };
  const ended = Promise.all(Array.from({ length: clients }, client));
  return {
    stop: async () => {
      stopped = true;
      await ended;
    },
  };
}

/** `arrivals` are milliseconds from now. A request that finds 2048 waiting is not sent and counts as `not_sent`. */
export function openLoop(arrivals: Iterable<number>, send: Send, note: Note): Load {
  const waiting = new Set<Promise<void>>();
  const start = performance.now();
  let stopped = false;
  const run = async () => {
    for (const arrival of arrivals) {
      const due = start + arrival;
      await untilDue(due);
      if (stopped) return;
      if (waiting.size >= MOST_WAITING) {
        note({ ms: 0, timings: null, error: 'not_sent' });
        continue;
      }
      const answered = timed(due, send).then((finished) => {
        waiting.delete(answered);
        note(finished);
      });
      waiting.add(answered);
    }
  };
  void run();
  return {
    stop: async () => {
      stopped = true;
      await Promise.all(waiting);
    },
  };
}

/** Never rejects. */
async function timed(from: number, send: Send): Promise<Finished> {
  try {
    const timings = await send();
    return { ms: performance.now() - from, timings, error: null };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return { ms: performance.now() - from, timings: null, error: code };
  }
}

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
