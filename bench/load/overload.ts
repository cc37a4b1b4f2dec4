/** Synchronous requests at a multiple of what the service can do, beside its peak in alternating bursts. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { poissonArrivals, untilDue } from '../../src/cli/bench/load.js';
import { closedLoop } from './loops.js';

const PEAK_CLIENTS = 8;
/** Beyond every request that may wait for an answer at a time. */
const SOCKETS = 4_096;
const REST_MS = 200;

export interface OverloadOptions {
  url: string;
  /** Of the service, for its memory. */
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

interface Answer {
  status: number;
  retryAfterS: number;
}

export async function overload(options: OverloadOptions): Promise<Overload> {
  const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS });
  const send = (turn: number) => detect(agent, options, turn);
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
  // A client that is refused rests, as one that honours Retry-After.
  const sendPatiently = async (turn: number) => {
    const { status } = await send(turn);
    if (status === 200) return;
    await sleep(REST_MS);
    throw new Error(`answered ${status}`);
  };
  await closedLoop(2, 1, (_, turn) => sendPatiently(turn));
  for (let round = 0; round < options.rounds; round += 1) {
    const { perSecond } = await closedLoop(PEAK_CLIENTS, options.peakSeconds, (client, turn) =>
      sendPatiently(client * 7 + turn),
    );
    if (round === 0) sum.restBytes = residentBytes(options.pid);
    sum.peak += perSecond / options.rounds;
    const rate = perSecond * options.factor;
    sum.offered += rate / options.rounds;
    sum.goodput += (await burst(rate, options, send, sum)) / options.rounds;
  }
  agent.destroy();
  return sum;
}

/** Results per second of those that were answered while requests were sent. */
async function burst(
  rate: number,
  { overloadSeconds, pid }: OverloadOptions,
  send: (turn: number) => Promise<Answer>,
  sum: Overload,
): Promise<number> {
  const memory = setInterval(() => {
    sum.mostBytes = Math.max(sum.mostBytes, residentBytes(pid));
  }, 100);
  let inTime = 0;
  const pending: Promise<void>[] = [];
  const start = performance.now();
  const end = start + overloadSeconds * 1_000;
  for (const arrival of poissonArrivals(rate, overloadSeconds)) {
    const due = start + arrival;
    await untilDue(due);
    const sent = performance.now();
    const note = ({ status, retryAfterS }: Answer) => {
      sum.statuses[status] = (sum.statuses[status] ?? 0) + 1;
      if (status === 200) {
        sum.accepted.push(performance.now() - due);
        if (performance.now() <= end) inTime += 1;
      }
      if (status !== 503) return;
      sum.refused.push(performance.now() - sent);
      sum.retryAfterS.push(retryAfterS);
    };
    pending.push(send(pending.length).then(note));
  }
  await Promise.all(pending);
  clearInterval(memory);
  return inTime / overloadSeconds;
}

function detect(agent: Agent, { url, photos }: OverloadOptions, turn: number): Promise<Answer> {
  const body = JSON.stringify({ image_path: photos[turn % photos.length] });
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}/v1/inference/detect`,
      { agent, method: 'POST', headers },
      (response) => {
        response.resume();
        response.on('end', () => {
          const retryAfterS = Number(response.headers['retry-after'] ?? 0);
          resolve({ status: response.statusCode ?? 0, retryAfterS });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

function residentBytes(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return Number(kib) * 1_024;
}
