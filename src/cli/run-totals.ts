/** What a run over images came to. */
import { failureLines, type FailedImage } from './failure-lines.js';
import type { ImageOutcome } from './image-entry.js';

export class RunTotals {
  readonly #failures: FailedImage[] = [];
  readonly #boxes = new Map<string, number>();
  #done = 0;

  add(shown: string, outcome: ImageOutcome): void {
    if (outcome.status === 'error') {
      this.#failures.push({ path: shown, error: outcome.error });
      return;
    }
    this.#done += 1;
    for (const { class: name } of outcome.result.detections) {
      this.#boxes.set(name, (this.#boxes.get(name) ?? 0) + 1);
    }
  }

  get done(): number {
    return this.#done;
  }

  get failed(): number {
    return this.#failures.length;
  }

  /** Boxes by class, the most first; then images, boxes and time; then why images failed. */
  lines(seconds: number, engine: string): string[] {
    const byClass = classesText(this.#boxes);
    const boxes = [...this.#boxes.values()].reduce((sum, count) => sum + count, 0);
    const rate = ((this.done + this.failed) / seconds).toFixed(1);
    return [
      ...(byClass === '' ? [] : [`total: ${byClass}`]),
      `${this.done} done, ${this.failed} failed; ${boxes} box(es), ${seconds.toFixed(2)} s, ${rate} images/s; ${engine}`,
      ...failureLines(this.#failures),
    ];
  }
}

/** `car 12, bus 3`; '' without boxes. */
export function classesText(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .sort(([one, more], [other, fewer]) => fewer - more || (one < other ? -1 : 1))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}
