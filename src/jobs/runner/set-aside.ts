/**
 * Images of a job that could not be read, because their volume does not answer or every worker was overloaded. They
 * are tried again after a pause, in which other jobs use the detector; after too long a time they fail.
 */
import { dirname } from 'node:path';
import type { WaitingImage } from '../../store/job-records.js';

export interface SetAsideTimes {
  pauseMs: number;
  /** Time since the first image was set aside. It starts again when an image in the folder of such an image is done. */
  patienceMs: number;
}

/** With this many images set aside the job reads no more: the others may be on the same volume. */
const MOST = 64;

export class SetAside {
  readonly #times: SetAsideTimes;
  readonly #giveBack: (images: WaitingImage[]) => void;
  readonly #images: WaitingImage[] = [];
  /** Set aside at least once and not done. */
  readonly #known = new Set<number>();
  /** Folders of images that were set aside or failed since the volume answered last. */
  readonly #folders = new Set<string>();
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

  /** No image of the job has waited for its volume before. */
  get isNew(): boolean {
    return this.#since === null;
  }

  /** False if the image has waited too long: it is not taken and has failed. */
  take(image: WaitingImage): boolean {
    const now = performance.now();
    this.#since ??= now;
    this.#folders.add(dirname(image.path));
    if (now - this.#since >= this.#times.patienceMs) {
      this.#known.delete(image.index);
      return false;
    }
    this.#known.add(image.index);
    this.#images.push(image);
    // The pause counts from the last image: all of them are set aside within a short time, since there are few.
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#giveBack(this.#images.splice(0));
    }, this.#times.pauseMs).unref();
    return true;
  }

  /** The image was read: the volume of its folder is back. */
  done({ index, path }: WaitingImage): void {
    this.#known.delete(index);
    if (this.#since === null || !this.#folders.has(dirname(path))) return;
    this.#since = null;
    this.#folders.clear();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#images.length = 0;
  }
}
