/**
 * How fast is the network alone on kinds of CPU? The library is held to the instructions of older ones
 * (ONEDNN_MAX_CPU_ISA); kinds with more than this CPU has are left out. Figures for more threads than there are
 * cores are predicted.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { FloatPrecision } from '../src/api/schemas/model.js';
import { median } from './load/percentiles.js';
import { setting, type Measurement } from './setting.js';

const ROUNDS = 4;
const PROGRAM = fileURLToPath(new URL('./load/network-process.ts', import.meta.url));

interface Kind {
  name: string;
  /** Flag of /proc/cpuinfo. */
  needs: string;
  instructions: string;
  /** The library asks the CPU itself for bf16, whatever it is held to. */
  precision: FloatPrecision;
}

const KINDS: readonly Kind[] = [
  { name: 'AVX2', needs: 'avx2', instructions: 'AVX2', precision: 'f32' },
  { name: 'AVX2 with VNNI', needs: 'avx_vnni', instructions: 'AVX2_VNNI', precision: 'f32' },
  { name: 'AVX-512', needs: 'avx512bw', instructions: 'AVX512_CORE', precision: 'f32' },
  {
    name: 'AVX-512 with VNNI',
    needs: 'avx512_vnni',
    instructions: 'AVX512_CORE_VNNI',
    precision: 'f32',
  },
  {
    name: 'AVX-512 with bf16',
    needs: 'avx512_bf16',
    instructions: 'AVX512_CORE_BF16',
    precision: 'auto',
  },
  { name: 'AMX', needs: 'amx_int8', instructions: 'AVX512_CORE_AMX', precision: 'auto' },
];
const THREAD_COUNTS = [1, 2, 4, 8, 16];

export default function cpuKinds(): Promise<Measurement[]> {
  const flags = readFileSync('/proc/cpuinfo', 'latin1');
  const kinds = KINDS.filter(({ needs }) => new RegExp(`\\b${needs}\\b`).test(flags));
  return Promise.resolve(
    kinds.flatMap((kind) => [
      ...rowsOf(kind, 'floats', setting().modelPath.replace('.int8', '')),
      ...rowsOf(kind, '8 bits', setting().modelPath),
    ]),
  );
}

function rowsOf(kind: Kind, bits: string, model: string): Measurement[] {
  const here = THREAD_COUNTS.filter((count) => count <= cpus().length);
  const rounds = Array.from({ length: ROUNDS }, () =>
    here.map((threads) => perSecond(kind, model, threads)),
  );
  const rates = here.map((_, at) => median(rounds.map((round) => round[at]!)));
  const [one = NaN] = rates;
  // Each doubling of the threads gives as much as the last one that was measured.
  const doubling = rates.length < 2 ? 2 : Math.min(2, rates.at(-1)! / rates.at(-2)!);
  return THREAD_COUNTS.map((threads, at) => {
    const measured = rates[at];
    const value = measured ?? rates.at(-1)! * doubling ** (at + 1 - rates.length);
    const threadsText = threads === 1 ? '1 thread' : `${threads} threads`;
    const predicted = measured === undefined ? ' (predicted)' : '';
    return {
      what: `network alone, ${kind.name}, ${bits}, ${threadsText}${predicted}`,
      value,
      unit: 'images/s',
      bound: { what: 'threads x one thread', value: threads * one },
    };
  });
}

function perSecond({ instructions, precision }: Kind, model: string, threads: number): number {
  // With the loaders of this process.
  const args = [...process.execArgv, PROGRAM, model, String(threads), precision];
  const env = { ...process.env, ONEDNN_MAX_CPU_ISA: instructions };
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8', env }));
}
