/** Two ways to put load on a service until it is told to stop: closed (a client waits for its answer) and open. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Timings } from '../../api/image.js';
import { untilDue } from './arrivals.js';

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
