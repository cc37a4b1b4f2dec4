/** Memory of another process. */
import { readFileSync } from 'node:fs';

/** Resident memory in MiB. */
export function residentMib(pid: number): number {
  const [, kib] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1_024;
}
