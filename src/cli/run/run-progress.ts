/** How far a run is whose number of pictures is not known from the start. */
import { bar, durationText, LOG_EVERY_MS, SCREEN_EVERY_MS } from '../progress.js';
import type { Terminal } from '../terminal.js';

export interface RunFigures {
  /** Pictures that are known so far. */
  total: number;
  done: number;
  failed: number;
  /** Pictures of `done` that took over a result of an earlier call. */
  reused: number;
}

/**
 * The rate is that of the later half of the time so far: the first pictures wait until the network and the processes
 * are warm, and a long time evens out what else the machine does. No longer than this: pictures of one folder may take
 * longer than those of the folder before it.
 */
const LONGEST_WINDOW_MS = 600_000;
/** Samples are no closer to each other than this part of the time so far: the window has a bounded number of them. */
const SAMPLE_SHARE = 1 / 1_000;

export class RunProgress {
  readonly #terminal: Terminal;
  readonly #now: () => number;
  readonly #samples: { at: number; ran: number }[] = [];
  #shownAt = -Infinity;
  /** When the first picture had run. */
  #ranAt: number | null = null;

  /** `now` gives milliseconds. */
  constructor(terminal: Terminal, now = () => performance.now()) {
    this.#terminal = terminal;
    this.#now = now;
  }

  /** `isListed`: no more pictures come. A log gets a line every 10 seconds, and one at each step. */
  show(figures: RunFigures, isListed: boolean, isStep: boolean): void {
    const now = this.#now();
    const { done, total, reused } = figures;
    if (done > reused) this.#sample(now, done - reused);
    const onScreen = this.#terminal.progress !== undefined;
    const pause = onScreen ? SCREEN_EVERY_MS : LOG_EVERY_MS;
    const isDue = now - this.#shownAt >= pause || (isStep && !onScreen);
    // The end has lines of its own.
    if (!isDue || done === 0 || (isListed && done === total)) return;
    this.#shownAt = now;
    const text = this.#text(figures, isListed);
    if (onScreen) this.#terminal.progress?.(`${bar(done / total)} ${text}`);
    else this.#terminal.err(text);
  }

  /** Results that are taken over come in no time, and say nothing of the others. */
  #sample(at: number, ran: number): void {
    const samples = this.#samples;
    this.#ranAt ??= at;
    const [before, last] = samples.slice(-2);
    const isClose = before && last && last.at - before.at < SAMPLE_SHARE * (at - this.#ranAt);
    if (isClose === true) samples.pop();
    samples.push({ at, ran });
    const since = Math.max((at + this.#ranAt) / 2, at - LONGEST_WINDOW_MS);
    while (samples[1] !== undefined && samples[1].at <= since) samples.shift();
  }

  #text({ total, done, failed, reused }: RunFigures, isListed: boolean): string {
    const rate = this.#rate();
    const left = rate > 0 ? [`${durationText((total - done) / rate)} left`] : [];
    return [
      `${done} of ${total}${isListed ? '' : ' or more'} images`,
      ...(rate > 0 ? [`${rate.toFixed(1)} images/s`] : []),
      ...left,
      ...(reused > 0 ? [`${reused} as before`] : []),
      `${failed} failed`,
    ].join(', ');
  }

  #rate(): number {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined || last.at === first.at) return 0;
    return ((last.ran - first.ran) * 1_000) / (last.at - first.at);
  }
}
