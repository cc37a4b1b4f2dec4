/**
 * Time limits for another process that count its own time only: what it waits for a CPU is not counted, so that a busy
 * machine is not taken for a call that does not come back.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** A limit is looked at so many times. */
const LOOKS = 8;
const LEAST_MS = 10;

/**
 * Milliseconds that the threads of the process have waited for a CPU so far, added up; 0 where the system does not tell.
 * Reads what the kernel keeps in memory: no disk is asked.
 */
export function cpuWaitMs(pid: number): number {
  const threads = `/proc/${pid}/task`;
  try {
    return readdirSync(threads).reduce((sum, id) => sum + waitOf(`${threads}/${id}/schedstat`), 0);
  } catch {
    return 0;
  }
}

/** The kernel's file has nanoseconds on a CPU, nanoseconds of waiting for one, and how often it got one. */
export function waitOf(file: string): number {
  try {
    return Number(readFileSync(file, 'latin1').split(' ')[1]) / 1e6;
  } catch {
    // The thread has ended.
    return 0;
  }
}

/**
 * Calls `onEnd` once the process has had `ms` of its own. The function that is returned ends the limit. This process may
 * itself have been late: an answer that has arrived meanwhile is received before a limit ends. Keeps no process alive.
 */
export function limitOwnTime(pid: number, ms: number, onEnd: () => void): () => void {
  let left = ms;
  let seenAt = performance.now();
  let waited = cpuWaitMs(pid);
  let timer: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  const look = () => {
    const [now, wait] = [performance.now(), cpuWaitMs(pid)];
    // Threads wait side by side, so that together they may have waited for longer than the time that has passed.
    left -= Math.max(0, now - seenAt - Math.max(0, wait - waited));
    [seenAt, waited] = [now, wait];
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
