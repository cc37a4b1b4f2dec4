/**
 * Images of a job whose volume does not answer. They come back after a pause, in which other jobs have the detector;
 * when that has gone on for too long they fail.
 */
import type { WaitingImage } from '../job-store.js';

export interface SetAsideTimes {
  pauseMs: number;
  /** From the first image that was set aside; one of them that is done starts it anew. */
  patienceMs: number;
}

/** With so many the job reads no further: its other images may lie on the same volume. */
const MOST = 64;

export class SetAside {
  readonly #times: SetAsideTimes;
  readonly #giveBack: (images: WaitingImage[]) => void;
  readonly #images: WaitingImage[] = [];
  /** Set aside at least once and not done. */
  readonly #known = new Set<number>();
  #since: number | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** `giveBack` gets the images when the pause is over. */
  constructor(times: SetAsideTimes, giveBack: (images: WaitingImage[]) => void) {
    this.#times = times;
    this.#giveBack = giveBack;
  }

  get isFull(): boolean {
    return this.#known.size >= MOST;
  }

  /** None of the job's images was waiting for its volume before. */
  get isNew(): boolean {
    return this.#since === null;
  }

  /** False when the patience is over: the image is not taken, and is done for. */
  take(image: WaitingImage): boolean {
    const now = performance.now();
    this.#since ??= now;
    if (now - this.#since >= this.#times.patienceMs) {
      this.#known.delete(image.index);
      return false;
    }
    this.#known.add(image.index);
    this.#images.push(image);
    // From the last one on: they all come before it, since there are few.
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#giveBack(this.#images.splice(0));
    }, this.#times.pauseMs).unref();
    return true;
  }

  /** The image was read: its volume is back. */
  done({ index }: WaitingImage): void {
    if (this.#known.delete(index)) this.#since = null;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#images.length = 0;
  }
}
