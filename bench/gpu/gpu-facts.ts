/** What is known about this machine's GPU; null for what neither the addon nor nvidia-smi reports. */
import { spawnSync } from 'node:child_process';
import { cpus, release, totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildInfo } from '../../src/native/core.js';

import { gpuReadings, gpus } from '../../src/native/gpus.js';

const FIELDS = {
  driver: 'driver_version',
  memoryMiB: 'memory.total',
  smClockMHz: 'clocks.sm',
  smClockMostMHz: 'clocks.max.sm',
  memoryClockMHz: 'clocks.mem',
  memoryClockMostMHz: 'clocks.max.mem',
  powerLimitWatt: 'power.limit',
} as const;

export interface GpuFacts {
  /** As the addon lists them; empty where none can be used. */
  names: string[];
  /** Why none can be used; null where one can. */
  missing: string | null;
  /** Of the first GPU, by nvidia-smi. */
  driver: string | null;
  memoryMiB: number | null;
  smClockMHz: number | null;
  smClockMostMHz: number | null;
  memoryClockMHz: number | null;
  memoryClockMostMHz: number | null;
  powerLimitWatt: number | null;
  /** That the addon was built with. */
  cuda: string | null;
  tensorrt: string | null;
  /** Their figures are no GPU figures (docs/gpu.md, "Without a GPU"). */
  simulated: boolean;
}

export function gpuFacts(): GpuFacts {
  const { gpus: found, missing } = gpus();
  const words = missing === null ? ask(Object.values(FIELDS)) : null;
  const text = (field: keyof typeof FIELDS) => words?.[Object.keys(FIELDS).indexOf(field)] ?? null;
  const number = (field: keyof typeof FIELDS) => toNumber(text(field));
  const built = buildInfo().cuda ?? '';
  return {
    names: found.map(({ name }) => name),
    missing,
    driver: text('driver'),
    memoryMiB: number('memoryMiB'),
    smClockMHz: number('smClockMHz'),
    smClockMostMHz: number('smClockMostMHz'),
    memoryClockMHz: number('memoryClockMHz'),
    memoryClockMostMHz: number('memoryClockMostMHz'),
    powerLimitWatt: number('powerLimitWatt'),
    cuda: /CUDA ([\d.]+)/.exec(built)?.[1] ?? null,
    tensorrt: /TensorRT ([\d.]+)/.exec(built)?.[1] ?? null,
    simulated: built.includes('simulated on the host'),
  };
}

/**
 * In use on all GPUs by all processes, by a reading that began after the call: the addon takes about one per second.
 * Null if a GPU does not report it.
 */
export async function gpuMemoryMiB(read = gpuReadings, mostMs = 3_000): Promise<number | null> {
  const asked = performance.now();
  while (performance.now() - asked < mostMs) {
    await sleep(50);
    const { gpus: there } = read();
    const since = performance.now() - asked;
    if (there.length === 0 || there.some(({ ageMs }) => ageMs === null || ageMs > since)) continue;
    if (there.some(({ memoryUsed }) => memoryUsed === null)) return null;
    return there.reduce((sum, { memoryUsed }) => sum + memoryUsed! / 2 ** 20, 0);
  }
  return null;
}

export function machine(): string {
  return `${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}, Node ${process.version}`;
}

/** LATTICE_COMMIT names it where a checkout without its history is measured. */
export function commit(): string | null {
  const git = (...args: string[]) =>
    spawnSync('git', args, { encoding: 'utf8', cwd: import.meta.dirname, timeout: 10_000 });
  const { status, stdout } = git('rev-parse', '--short=12', 'HEAD');
  if (status !== 0) return process.env.LATTICE_COMMIT ?? null;
  const changed = git('status', '--porcelain', '--untracked-files=no').stdout.trim() !== '';
  return stdout.trim() + (changed ? '+' : '');
}

/** Answers of nvidia-smi about the first GPU, null for those it does not give; null without nvidia-smi. */
function ask(fields: readonly string[]): (string | null)[] | null {
  const { status, stdout } = spawnSync(
    'nvidia-smi',
    [`--query-gpu=${fields.join(',')}`, '--format=csv,noheader,nounits', '--id=0'],
    { encoding: 'utf8', timeout: 10_000 },
  );
  if (status !== 0) return null;
  const words = stdout.trim().split(/\s*,\s*/);
  return fields.map((_, at) => {
    const word = words[at] ?? '';
    return word === '' || word.includes('N/A') || word.includes('Not Supported') ? null : word;
  });
}

function toNumber(text: string | null): number | null {
  if (text === null) return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}
