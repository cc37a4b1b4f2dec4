/** C sources of this folder as libraries for LD_PRELOAD. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Preload extends Disposable {
  library: string;
  /** Temporary; it goes with the library. */
  folder: string;
}

/** Null, with the reason printed, where `<name>.c` cannot be compiled. */
export function compilePreload(name: string): Preload | null {
  const folder = mkdtempSync(join(tmpdir(), `lattice-${name}-`));
  const library = join(folder, `${name}.so`);
  const source = fileURLToPath(new URL(`./${name}.c`, import.meta.url));
  const options = ['-shared', '-fPIC', '-O1', '-o', library, source];
  const compiled = spawnSync('cc', options, { encoding: 'utf8' });
  const remove = () => {
    rmSync(folder, { recursive: true, force: true });
  };
  if (compiled.status !== 0) {
    remove();
    console.warn(`Left out: ${name}: ${compiled.stderr || String(compiled.error)}`);
    return null;
  }
  return { library, folder, [Symbol.dispose]: remove };
}
