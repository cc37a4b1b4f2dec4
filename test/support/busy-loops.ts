/** A machine that is busy with other things: programs that want a CPU all the time. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, setPriority } from 'node:os';

/** Beside a program of 0 it gets a 45th of the CPU. */
const NICE = 17;
/** Each ends by itself after so much CPU time, should nobody end it. */
const MOST_CPU_SECONDS = 120;

export interface BusyLoops extends Disposable {
  count: number;
  starve: typeof starve;
}

/**
 * One per CPU. They have to run in the session of what they are to slow down: the kernel may divide the CPU by session.
 */
export function startBusyLoops(): BusyLoops {
  const script = `ulimit -t ${MOST_CPU_SECONDS}; while :; do :; done`;
  const loops = Array.from({ length: availableParallelism() }, () =>
    spawn('sh', ['-c', script], { stdio: 'ignore' }),
  );
  return {
    count: loops.length,
    starve,
    [Symbol.dispose]() {
      for (const loop of loops) loop.kill('SIGKILL');
    },
  };
}

/**
 * Beside a busy loop the process, those that it has started and those that it will start have the share of one among 45
 * loops: so many real ones would leave as little to everybody else.
 */
function starve(pid: number): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1');
  for (const each of [pid, ...children.split(' ').filter(Boolean).map(Number)])
    setPriority(each, NICE);
}
