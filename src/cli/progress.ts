/** How far a run over images is: on a terminal one changing line, else a line every 10 seconds, on standard error. */
import type { Terminal } from './terminal.js';

const WIDTH = 24;
export const SCREEN_EVERY_MS = 100;
export const LOG_EVERY_MS = 10_000;

export class Progress {
  readonly #terminal: Terminal;
  readonly #total: number;
  readonly #now: () => number;
  readonly #startedAt: number;
  #shownAt: number;
  #done = 0;

  /** The rate counts from here. `now` gives milliseconds. */
  constructor(terminal: Terminal, total: number, now = () => performance.now()) {
    this.#terminal = terminal;
    this.#total = total;
    this.#now = now;
    this.#startedAt = now();
    this.#shownAt = this.#startedAt;
  }

  /** Call for each image that is done or failed. */
  step(): void {
    this.#done += 1;
    const now = this.#now();
    const onScreen = this.#terminal.progress !== undefined;
    const pause = onScreen ? SCREEN_EVERY_MS : LOG_EVERY_MS;
    // The end has a line of its own.
    if (this.#done === this.#total || now - this.#shownAt < pause) return;
    this.#shownAt = now;
    const text = this.#text((now - this.#startedAt) / 1000);
    if (onScreen) this.#terminal.progress?.(`${bar(this.#done / this.#total)} ${text}`);
    else this.#terminal.err(text);
  }

  #text(seconds: number): string {
    const rate = this.#done / seconds;
    const left = durationText((this.#total - this.#done) / rate);
    return `${this.#done} of ${this.#total} images, ${rate.toFixed(1)} images/s, ${left} left`;
  }
}

export function bar(share: number): string {
  const filled = Math.round(WIDTH * share);
  return '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
}

export function durationText(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  // Whole minutes would be wrong by a fifth.
  if (seconds < 1200) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
