/** The loops of `lattice bench` for a time, and what came of them. */
import {
  closedLoop,
  openLoop,
  poissonArrivals,
  type Load,
  type Note,
  type Send,
} from '../../src/cli/bench/load.js';

export interface LoadResult {
  /** Milliseconds; in the open loop from the moment the request was due, so a stall is not hidden. */
  latencies: number[];
  perSecond: number;
  failures: number;
}

/** `clients` senders, each with one request in the air. */
export function closedLoopFor(
  seconds: number,
  clients: number,
  send: Send<unknown>,
): Promise<LoadResult> {
  return outcome((note) => {
    const load = closedLoop(clients, send, note);
    setTimeout(load.stop, seconds * 1_000);
    return load;
  });
}

/** Requests at exponential gaps of mean 1 / `rate` seconds, whether or not earlier ones have answered. */
export function openLoopFor(
  seconds: number,
  rate: number,
  send: Send<unknown>,
): Promise<LoadResult> {
  return outcome((note) => openLoop(poissonArrivals(rate, seconds), send, note));
}

async function outcome(start: (note: Note<unknown>) => Load): Promise<LoadResult> {
  const latencies: number[] = [];
  let failures = 0;
  const begun = performance.now();
  const { ended } = start(({ ms, error }) => {
    if (error === null) latencies.push(ms);
    else failures += 1;
  });
  await ended;
  return {
    latencies,
    perSecond: (latencies.length * 1_000) / (performance.now() - begun),
    failures,
  };
}
