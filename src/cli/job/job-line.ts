/** The progress of a job: on one line that changes where somebody looks, else a line now and then. */
import type { JobProgress } from '../../client/lattice-client.js';
import type { Terminal } from '../terminal.js';

const WIDTH = 24;
/** Lines of a log are fewer: one for each tenth of the way. */
const LOG_STEPS = 10;

export class JobLine {
  readonly #terminal: Terminal;
  readonly #json: boolean;
  #shown = '';

  constructor(terminal: Terminal, json: boolean) {
    this.#terminal = terminal;
    this.#json = json;
  }

  show(progress: JobProgress): void {
    const { status, finished_images: done, image_count: images } = progress;
    // The end has a line of its own.
    if (status === 'completed' || status === 'failed') return;
    const step = this.#isLog ? Math.floor(progress.progress * LOG_STEPS) : done;
    if (this.#shown === `${status} ${step}`) return;
    this.#shown = `${status} ${step}`;
    const text = `${done}/${images} images, ${status}`;
    if (this.#json) this.#terminal.out(JSON.stringify(progress));
    else if (this.#terminal.progress === undefined) this.#terminal.err(text);
    else this.#terminal.progress(`${bar(progress.progress)} ${text}`);
  }

  get #isLog(): boolean {
    return !this.#json && this.#terminal.progress === undefined;
  }
}

function bar(share: number): string {
  const filled = Math.round(WIDTH * share);
  return '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
}
