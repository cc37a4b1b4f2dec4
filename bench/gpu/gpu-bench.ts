/** The program bench/native as a child: JSON lines out, for batch times a question per line in. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../test/support/service-process.js';

const PROGRAM = join(PROJECT_ROOT, 'build/Release/lattice_gpu_bench');

/** What a GPU does at most, as bench/native/gpu_limits.h. */
export interface GpuLimits {
  name: string;
  tensorrt: string;
  copyGbS: number;
  uploadGbS: number;
  downloadGbS: number;
  matrixTflopS: number;
  matrixSize: number;
  /** Why no matrix product was measured; null where one was. */
  matrixMissing: string | null;
}

export async function gpuLimits(rounds: number, seconds: number): Promise<GpuLimits> {
  await using bench = new GpuBench(['limits', String(rounds), String(seconds)]);
  return (await bench.answer()) as GpuLimits;
}

export class GpuBench {
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
  async answer(question = ''): Promise<unknown> {
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
