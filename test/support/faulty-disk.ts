/** A disk on which calls for the job store fail or kill on command, in the processes started with `env`. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { compilePreload } from './preload.js';

export interface FaultyDisk extends Disposable {
  env: Record<string, string>;
  /** The next such call fails, or with `on` each until `heal`. */
  fail(call: 'write' | 'sync', code: 'EIO' | 'ENOSPC', times: 'once' | 'on'): void;
  /**
   * The next such call is the last of its process, or the one that comes after so many others; `synced` is the moment
   * after a sync that succeeded.
   */
  kill(call: 'write' | 'sync' | 'synced', after?: number): void;
  heal(): void;
  /** False while a fault is still to come. */
  isWell(): boolean;
}

/** Null, with the reason printed, where it cannot be compiled. */
export function faultyDisk(dataDir: string): FaultyDisk | null {
  const preload = compilePreload('faulty-disk');
  if (preload === null) return null;
  const fault = join(preload.folder, 'fault');
  return {
    env: {
      LD_PRELOAD: preload.library,
      FAULT_FILE: fault,
      FAULT_PREFIX: join(dataDir, 'jobs.db'),
    },
    fail: (call, code, times) => {
      writeFileSync(fault, `${call} ${constants.errno[code]} ${times === 'on' ? times : 1}\n`);
    },
    kill: (call, after = 0) => {
      writeFileSync(fault, `${call} 0 ${after + 1}\n`);
    },
    heal: () => {
      rmSync(fault, { force: true });
    },
    isWell: () => !existsSync(fault),
    [Symbol.dispose]: () => {
      preload[Symbol.dispose]();
    },
  };
}
