/** Synchronous requests at a multiple of what the service can do, beside its peak in alternating bursts. */
import { readFileSync } from 'node:fs';
import { openLoop, poissonArrivals } from '../../src/cli/bench/load.js';
import { HttpClient, type Reply } from './http-client.js';
import { closedLoopFor } from './loops.js';

const PEAK_CLIENTS = 8;
/** Beyond every request that may wait for an answer at a time. */
const SOCKETS = 4_096;

export interface OverloadOptions {
  url: string;
  /** Process id of the service, for its memory. */
  pid: number;
  photos: readonly string[];
  /** Offered load, as a multiple of the peak of the burst before. */
  factor: number;
  rounds: number;
  peakSeconds: number;
  overloadSeconds: number;
}

export interface Overload {
  /** Results per second: at 8 clients, and under the overload. */
  peak: number;
  goodput: number;
  offered: number;
  /** Milliseconds of answers with a result, from the moment the request was due. */
  accepted: number[];
  /** Milliseconds from sending to a 503. */
  refused: number[];
  retryAfterS: number[];
  /** Answers by status. */
  statuses: Record<string, number>;
  /** Resident memory after the first peak, and the most since, in bytes. */
  restBytes: number;
  mostBytes: number;
}

export async function overload(options: OverloadOptions): Promise<Overload> {
  using client = new HttpClient(options.url, SOCKETS);
  const { photos } = options;
  const send = (turn: number) => {
    const body = { image_path: photos[turn % photos.length] };
    return client.send('POST', '/v1/inference/detect', body);
  };
  const sum: Overload = {
    peak: 0,
    goodput: 0,
    offered: 0,
    accepted: [],
    refused: [],
    retryAfterS: [],
    statuses: {},
    restBytes: 0,
    mostBytes: 0,
  };
  const detect = async (turn: number) => {
    const { status } = await send(turn);
    if (status !== 200) throw new Error(`answered ${status}`);
  };
  await closedLoopFor(1, 2, detect);
  for (let round = 0; round < options.rounds; round += 1) {
    const { perSecond } = await closedLoopFor(options.peakSeconds, PEAK_CLIENTS, detect);
    if (round === 0) sum.restBytes = residentBytes(options.pid);
    sum.peak += perSecond / options.rounds;
    const rate = perSecond * options.factor;
    sum.offered += rate / options.rounds;
    sum.goodput += (await burst(rate, options, send, sum)) / options.rounds;
  }
  return sum;
}

/** Results per second of those that were answered while requests were sent. */
async function burst(
  rate: number,
  { overloadSeconds, pid }: OverloadOptions,
  send: (turn: number) => Promise<Reply>,
  sum: Overload,
): Promise<number> {
  const memory = setInterval(() => {
    sum.mostBytes = Math.max(sum.mostBytes, residentBytes(pid));
  }, 100);
  let inTime = 0;
  const end = performance.now() + overloadSeconds * 1_000;
  const { ended } = openLoop(
    poissonArrivals(rate, overloadSeconds),
    send,
    ({ ms, answer, error }) => {
      const status = answer?.status ?? error ?? '';
      sum.statuses[status] = (sum.statuses[status] ?? 0) + 1;
      if (status === 200) {
        sum.accepted.push(ms);
        if (performance.now() <= end) inTime += 1;
      }
      if (answer?.status !== 503) return;
      sum.refused.push(answer.ms);
      sum.retryAfterS.push(Number(answer.headers['retry-after'] ?? 0));
    },
  );
  await ended;
  clearInterval(memory);
  return inTime / overloadSeconds;
}

function residentBytes(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return Number(kib) * 1_024;
}
