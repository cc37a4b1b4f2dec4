/** Two ways to put load on a server: closed (a client waits for its answer) and open (arrivals do not wait). */
import { poissonArrivals, untilDue } from '../../src/cli/bench/load.js';

export interface LoadResult {
  /** Milliseconds; in the open loop from the moment the request was due, so a stall is not hidden. */
  latencies: number[];
  perSecond: number;
  failures: number;
}

/** `clients` senders, each with one request in the air, for `seconds`. `send` rejects on a bad answer. */
export async function closedLoop(
  clients: number,
  seconds: number,
  send: (client: number, turn: number) => Promise<unknown>,
): Promise<LoadResult> {
  const latencies: number[] = [];
  let failures = 0;
  const start = performance.now();
  const end = start + seconds * 1_000;
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let turn = 0; performance.now() < end; turn += 1) {
        const sent = performance.now();
        try {
          await send(client, turn);
          latencies.push(performance.now() - sent);
        } catch {
          failures += 1;
        }
      }
    }),
  );
  return {
    latencies,
    perSecond: (latencies.length * 1_000) / (performance.now() - start),
    failures,
  };
}

/** Requests at exponential gaps of mean 1 / `rate` seconds, whether or not earlier ones have answered. */
export async function openLoop(
  rate: number,
  seconds: number,
  send: (turn: number) => Promise<unknown>,
): Promise<LoadResult> {
  const latencies: number[] = [];
  let failures = 0;
  const pending: Promise<void>[] = [];
  const start = performance.now();
  for (const arrival of poissonArrivals(rate, seconds)) {
    const due = start + arrival;
    await untilDue(due);
    pending.push(
      send(pending.length).then(
        () => void latencies.push(performance.now() - due),
        () => void (failures += 1),
      ),
    );
  }
  await Promise.all(pending);
  return {
    latencies,
    perSecond: (latencies.length * 1_000) / (performance.now() - start),
    failures,
  };
}
