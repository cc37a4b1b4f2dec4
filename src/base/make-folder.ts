import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder of the service's own (mode 0700) with the ones above it. Throws what the kernel says.
 * Level by level: Node's own recursive mkdir never returns where the kernel refuses with ENOENT, as in /proc.
 */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}
