/** The failed images of a job by error code, with a few examples of each. */
import type { ErrorCode } from '../api/errors.js';
import type { ImageEntry } from '../store/job.js';

const MOST_EXAMPLES = 5;

export interface FailureGroup {
  code: ErrorCode;
  /** The words of the error table. */
  title: string;
  images: number;
  examples: { path: string; detail: string }[];
}

export class FailedImages {
  readonly #groups = new Map<ErrorCode, FailureGroup>();
  readonly #shown: (text: string) => string;

  constructor(shown: (text: string) => string) {
    this.#shown = shown;
  }

  add({ path, outcome }: ImageEntry): void {
    if (outcome?.status !== 'error') return;
    const { code, title, detail } = outcome.error;
    const group = this.#groups.get(code) ?? { code, title, images: 0, examples: [] };
    this.#groups.set(code, group);
    group.images += 1;
    if (group.examples.length === MOST_EXAMPLES) return;
    group.examples.push({ path: this.#shown(path), detail: this.#shown(detail) });
  }

  /** Most images first. */
  get groups(): FailureGroup[] {
    return [...this.#groups.values()].sort((a, b) => b.images - a.images);
  }
}
