/** Limits that the kernel sets to this process. */
import { readFileSync } from 'node:fs';

/**
 * The soft limit of this name in /proc/self/limits, such as `Max open files`; Infinity where there is none, or none is
 * known.
 */
export function processLimit(name: string): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(new RegExp(`^${name} +(\\d+)`, 'm').exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
