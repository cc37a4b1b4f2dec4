/** Two ways to put load on a service: closed (a client waits for its answer) and open (arrivals do not wait). */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** A client that was refused rests, so that a service that is away is not asked in a busy loop. */
const REST_MS = 100;
/** Bounds the memory and the sockets of an open loop that the service does not keep up with. */
const MOST_WAITING = 2_048;

export interface Finished<T> {
  /** Time since sending. In the open loop it is the time since the call was due, so that a stall is not hidden. */
  ms: number;
  /** Null if the call failed. */
  answer: T | null;
  /** Code of a failure; null of an answer. */
  error: string | null;
}

export interface Load {
  /** No request is sent after it. */
  stop: () => void;
  /** Every request has its answer, after a stop or the last arrival. */
  ended: Promise<unknown>;
}

/** `turn` counts the requests from 0. Rejects with what counts as a failure. */
export type Send<T> = (turn: number) => Promise<T>;
export type Note<T> = (finished: Finished<T>) => void;

export function closedLoop<T>(clients: number, send: Send<T>, note: Note<T>): Load {
  let stopped = false;
  let turns = 0;
  const client = async () => {
    while (!stopped) {
      const turn = turns++;
      const finished = await timed(performance.now(), () => send(turn));
      note(finished);
      if (finished.error !== null) await sleep(REST_MS);
    }
  };
  const ended = Promise.all(Array.from({ length: clients }, client));
  return { stop: () => (stopped = true), ended };
}

/** `arrivals` are milliseconds from now. A request that finds 2048 waiting is not sent and counts as `not_sent`. */
export function openLoop<T>(arrivals: Iterable<number>, send: Send<T>, note: Note<T>): Load {
  const waiting = new Set<Promise<void>>();
  const start = performance.now();
  const stopping = new AbortController();
  let turns = 0;
  const run = async () => {
    for (const arrival of arrivals) {
      const due = start + arrival;
      await untilDue(due, stopping.signal);
      if (stopping.signal.aborted) break;
      if (waiting.size >= MOST_WAITING) {
        note({ ms: 0, answer: null, error: 'not_sent' });
        continue;
      }
      const turn = turns++;
      const answered = timed(due, () => send(turn)).then((finished) => {
        waiting.delete(answered);
        note(finished);
      });
      waiting.add(answered);
    }
    await Promise.all(waiting);
  };
  const stop = () => {
    stopping.abort();
  };
  return { stop, ended: run() };
}

/** Never rejects. */
async function timed<T>(from: number, send: () => Promise<T>): Promise<Finished<T>> {
  try {
    const answer = await send();
    return { ms: performance.now() - from, answer, error: null };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return { ms: performance.now() - from, answer: null, error: code };
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
 * Resolves once `performance.now()` is at `due`, never before, or once `stop` goes off. Answers, timers and aborts run
 * first, even where `due` is long past: a sender that is late and did not wait at all would block the answers that it
 * measures. A timer has whole milliseconds only, so the rest of the last one is spent in turns of the event loop.
 */
export async function untilDue(due: number, stop?: AbortSignal): Promise<void> {
  const wait = due - performance.now();
  if (wait >= 1) await sleep(wait, undefined, stop && { signal: stop }).catch(() => undefined);
  do await nextTurn();
  while (performance.now() < due && stop?.aborted !== true);
}
