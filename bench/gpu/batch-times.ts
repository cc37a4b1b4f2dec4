/** How long the stages of a batch take: on a GPU each alone, on the CPU from the timings of lone images. */
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { NativeModel } from '../../src/native/contract.js';
import type { Core } from '../../src/native/core.js';
import { PROJECT_ROOT } from '../../test/support/service-process.js';
import { median } from '../load/percentiles.js';
import type { Plan } from './plan.js';
import { pixelTask } from './rig.js';

/** Milliseconds; null for what the engine does not report. */
export interface BatchTimes {
  batch: number;
  networkMs: number;
  copyMs: number | null;
  letterboxMs: number;
  boxesMs: number;
  launchMs: number | null;
  emptyMs: number | null;
  /** From the first copy to the boxes. */
  wholeMs: number;
}

/** Times the smallest batch size that holds `batch` images, else the largest; the CPU's is 1. */
export type TimeBatch = (batch: number, rounds: number) => Promise<BatchTimes>;

export interface BatchTimer {
  time: TimeBatch;
  [Symbol.asyncDispose](): Promise<void>;
}

/** `core` must have loaded `model` from `file`, so that its engine is built. */
export function openBatchTimer(
  plan: Plan,
  core: Core,
  model: NativeModel,
  file: string,
): BatchTimer {
  if (plan.device === 'cpu') {
    return {
      time: (_batch, rounds) => timeLoneImages(core, model, rounds),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }
  const bench = new GpuBench([file, plan.engineCache, ...plan.gpuBatches.map(String)]);
  return {
    time: async (batch, rounds) => (await bench.answer(`${batch} ${rounds}`)) as BatchTimes,
    [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose](),
  };
}

const STAGES = ['preprocess', 'inference', 'postprocess'] as const;

async function timeLoneImages(
  core: Pick<Core, 'run'>,
  model: NativeModel,
  rounds: number,
): Promise<BatchTimes> {
  const samples: [number[], number[], number[]] = [[], [], []];
  for (let round = -1; round < rounds; round += 1) {
    const { timings } = await core.run(pixelTask(model, 'sync'));
    if (round >= 0) STAGES.forEach((stage, at) => samples[at]!.push(timings[stage]));
  }
  const [letterboxMs, networkMs, boxesMs] = samples.map(median) as [number, number, number];
  const wholeMs = letterboxMs + networkMs + boxesMs;
  const unknown = { copyMs: null, launchMs: null, emptyMs: null };
  return { batch: 1, letterboxMs, networkMs, boxesMs, wholeMs, ...unknown };
}

const BATCHES = [1, 2, 4, 8, 16, 32];

/** Once for each batch size that the engine has, smallest first. */
export async function timeBatches(time: TimeBatch, rounds: number): Promise<BatchTimes[]> {
  const all: BatchTimes[] = [];
  for (const batch of BATCHES) {
    const largest = all.at(-1)?.batch ?? 0;
    if (batch <= largest) continue;
    const times = await time(batch, rounds);
    // No larger one than before: the engine has no more.
    if (times.batch <= largest) break;
    all.push(times);
  }
  return all;
}

/** Images per second of the bare network: batches end to end, on every sync slot of the CPU. */
export function networkRate(
  { device }: Pick<Plan, 'device'>,
  core: Pick<Core, 'stats'>,
  { batch, networkMs }: BatchTimes,
): number {
  const beside = device === 'cuda' ? 1 : core.stats().syncBatches;
  return (beside * batch * 1_000) / networkMs;
}

/** Rate of the network at the fastest batch size. */
export function bestNetworkRate(
  plan: Pick<Plan, 'device'>,
  core: Pick<Core, 'stats'>,
  all: readonly BatchTimes[],
): number {
  return Math.max(...all.map((times) => networkRate(plan, core, times)));
}

const PROGRAM = join(PROJECT_ROOT, 'build/Release/lattice_gpu_bench');

/** The program bench/native as a child: a question per line in, a JSON line out. */
class GpuBench {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<unknown>;
  readonly #kill = () => this.#child.kill('SIGKILL');

  constructor(args: string[]) {
    const child = spawn(PROGRAM, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      child.on('error', resolve).on('close', resolve);
    });
    // A question after its end is answered by the end of its output.
    child.stdin.on('error', () => undefined);
    this.#lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    process.once('exit', this.#kill);
  }

  /** The next line. Rejects when the program has ended, which has printed why. */
  async answer(question: string): Promise<unknown> {
    this.#child.stdin?.write(`${question}\n`);
    const line = await this.#lines.next();
    if (line.done === true) {
      const how = await this.#ended;
      const reason = how instanceof Error ? how.message : `exit code ${String(how)}`;
      throw new Error(`lattice_gpu_bench gave no answer: ${reason}.`);
    }
    return JSON.parse(line.value) as unknown;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('exit', this.#kill);
    this.#child.stdin?.end();
    await this.#ended;
  }
}
