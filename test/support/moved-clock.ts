/** A system clock that is set on command, in the processes started with `env`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compilePreload } from './preload.js';

export interface MovedClock extends Disposable {
  env: Record<string, string>;
  /** From now on the clock is ahead of this machine's by so many seconds. */
  set(aheadSeconds: number): void;
}

/** Null, with the reason printed, where it cannot be compiled. */
export function movedClock(): MovedClock | null {
  const preload = compilePreload('moved-clock');
  if (preload === null) return null;
  const file = join(preload.folder, 'ahead');
  const set = (aheadSeconds: number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(Math.round(aheadSeconds)));
    // In place: the processes have it mapped.
    writeFileSync(file, bytes, { flag: 'r+' });
  };
  writeFileSync(file, Buffer.alloc(8));
  return {
    env: { LD_PRELOAD: preload.library, CLOCK_FILE: file },
    set,
    [Symbol.dispose]: () => {
      preload[Symbol.dispose]();
    },
  };
}
