/** Facts of this machine's GPU; null for those that neither the addon nor nvidia-smi tells. */
import { spawnSync } from 'node:child_process';
import { buildInfo, gpus } from '../../src/native/core.js';
import { readGpu } from '../../src/execution/here/nvidia-smi.js';

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
  /** Driver of the first GPU, by nvidia-smi. */
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

/** In use on the GPU by all processes; null where nvidia-smi does not tell. */
export async function gpuMemoryMiB(): Promise<number | null> {
  const [gpu] = gpus().gpus;
  if (gpu === undefined) return null;
  const reading = await readGpu(gpu.busId).catch(() => null);
  const used = reading?.figures.memoryUsedBytes ?? null;
  return used === null ? null : used / 2 ** 20;
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
