/** A disk on which writes or syncs of the job store fail on command, in the processes started with `env`. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('./faulty-disk.c', import.meta.url));

export interface FaultyDisk extends Disposable {
  env: Record<string, string>;
  /** The next such call fails, or with `on` each until `heal`. */
  fail(call: 'write' | 'sync', code: 'EIO' | 'ENOSPC', times: 'once' | 'on'): void;
  heal(): void;
  /** False while a fault is still to come. */
  isWell(): boolean;
}

/** Null, with the reason printed, where it cannot be compiled. */
export function faultyDisk(dataDir: string): FaultyDisk | null {
  const folder = mkdtempSync(join(tmpdir(), 'lattice-disk-'));
  const library = join(folder, 'faulty-disk.so');
  const fault = join(folder, 'fault');
  const compiled = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, SOURCE], {
    encoding: 'utf8',
  });
  if (compiled.status !== 0) {
    rmSync(folder, { recursive: true });
    console.warn(`Disks that fail are left out: ${compiled.stderr || String(compiled.error)}`);
    return null;
  }
  return {
    env: { LD_PRELOAD: library, FAULT_FILE: fault, FAULT_PREFIX: join(dataDir, 'jobs.db') },
    fail: (call, code, times) => {
      writeFileSync(fault, `${call} ${constants.errno[code]} ${times}\n`);
    },
    heal: () => {
      rmSync(fault, { force: true });
    },
    isWell: () => !existsSync(fault),
    [Symbol.dispose]: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
