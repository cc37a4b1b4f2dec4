/**
 * Time limits for another process that count its own time only: what it waits for a CPU is not counted, so that a busy
 * machine is not taken for a call that does not come back.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** A limit is looked at so many times. */
const LOOKS = 8;
const LEAST_MS = 10;

/**
 * Milliseconds that the threads of the process have waited for a CPU so far, added up; 0 where the system does not
 * tell. Reads what the kernel keeps in memory: no disk is asked.
 */
export function cpuWaitMs(pid: number): number {
  const threads = `/proc/${pid}/task`;
  try {
    return readdirSync(threads).reduce((sum, id) => sum + waitOf(`${threads}/${id}/schedstat`), 0);
  } catch {
    return 0;
  }
}

function waitOf(file: string): number {
  return timesOf(file).waitMs;
}

/** The kernel's file has nanoseconds on a CPU, nanoseconds of waiting for one, and how often it got one. */
function timesOf(file: string): { ranMs: number; waitMs: number } {
  try {
    const [ran, waited] = readFileSync(file, 'latin1').split(' ').map(Number);
    return { ranMs: (ran ?? 0) / 1e6, waitMs: (waited ?? 0) / 1e6 };
  } catch {
    // The thread has ended, or the system does not tell.
    return { ranMs: 0, waitMs: 0 };
  }
}

const SAMPLE_MS = 1_000;
const SAMPLES = 10;
/** A thread that waits for so little time of all misses none. */
const LEAST_WAIT = 0.02;

/** How the event loop of this process comes by a CPU, over the last 10 s. Keeps no process alive. */
export class CpuWaitRatio {
  readonly #samples: { at: number; ranMs: number; waitMs: number }[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#sample();
    this.#timer = setInterval(() => {
      this.#sample();
    }, SAMPLE_MS).unref();
  }

  /** Share of the time in which this process wanted a CPU and had none, 0 to 1. */
  get value(): number {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || last === undefined) return 0;
    const waited = last.waitMs - first.waitMs;
    if (waited <= LEAST_WAIT * (last.at - first.at)) return 0;
    return waited / (waited + last.ranMs - first.ranMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    this.#samples.push({ at: performance.now(), ...timesOf('/proc/self/schedstat') });
    if (this.#samples.length > SAMPLES) this.#samples.shift();
  }
}

/**
 * Calls `onEnd` once the process has had `ms` of its own. The function that is returned ends the limit. This process
 * may itself have been late: an answer that has arrived meanwhile is received before a limit ends. Keeps no process
 * alive.
 *
 * Reading what every thread has waited takes longer than most answers, so the first reading is that of the first look,
 * and the time until then, an eighth of the limit, counts whole.
 */
export function limitOwnTime(pid: number, ms: number, onEnd: () => void): () => void {
  const start = performance.now();
  let waitedBefore: number | null = null;
  let left = ms;
  let timer: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  const look = () => {
    const elapsed = performance.now() - start;
    const waited = cpuWaitMs(pid);
    waitedBefore ??= waited;
    // The kernel counts a wait when it is over. Threads wait side by side, together perhaps longer than the time that
    // passed.
    left = ms - Math.max(0, elapsed - Math.max(0, waited - waitedBefore));
    if (left > 0) lookLater();
    else onEnd();
  };
  const lookLater = () => {
    const pause = Math.max(LEAST_MS, Math.min(left, ms / LOOKS));
    timer = setTimeout(() => {
      turn = setImmediate(look);
    }, pause).unref();
  };
  lookLater();
  return () => {
    clearTimeout(timer);
    clearImmediate(turn);
  };
}
