/** CPU time of the main thread of another process, as the kernel counts it. */
import { readFileSync } from 'node:fs';

/** Milliseconds that the thread has run since its start. */
export function mainThreadMs(pid: number): number {
  const [ranNs] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ');
  return Number(ranNs) / 1e6;
}
