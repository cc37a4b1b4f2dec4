/** Answers of one run, one file per answer, so that a run that was cut off can continue. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NativeBuildInfo } from '../../src/native/contract.js';
import type { JudgedAnswer } from './answer.js';
import type { GpuFacts } from './gpu-facts.js';
import type { Plan } from './plan.js';

/** Everything that a figure depends on, but for clocks: they change between the parts of one run. */
export function answersKey(
  commit: string | null,
  { names, driver }: Pick<GpuFacts, 'names' | 'driver'>,
  addon: NativeBuildInfo,
  { models, effort, device, threads }: Plan,
): string {
  return JSON.stringify([commit, names, driver, addon, models, effort, device, threads]);
}

export class AnswerStore {
  readonly #folder: string;
  readonly #key: string;

  /** Answers that were stored under another key are not used. */
  constructor(folder: string, key: string, resume: boolean) {
    this.#folder = join(folder, 'answers');
    this.#key = key;
    if (!resume) rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder, { recursive: true });
  }

  read(question: string): JudgedAnswer | null {
    const file = this.#fileOf(question);
    if (!existsSync(file)) return null;
    try {
      const kept = JSON.parse(readFileSync(file, 'utf8')) as { key: string; answer: JudgedAnswer };
      return kept.key === this.#key ? kept.answer : null;
    } catch {
      // Cut off while it was written.
      return null;
    }
  }

  write(answer: JudgedAnswer): void {
    writeFileSync(
      this.#fileOf(answer.question),
      JSON.stringify({ key: this.#key, answer }, null, 2),
    );
  }

  #fileOf(question: string): string {
    return join(this.#folder, `${question}.json`);
  }
}
