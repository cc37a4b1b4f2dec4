/** How many images the detector wants at a time, asked now and then. */
import type { Detector } from '../../execution/detector.js';

const REREAD_MS = 100;

export class DetectorWindow {
  readonly #detector: Detector;
  #size = 1;
  #readAt = -Infinity;

  constructor(detector: Detector) {
    this.#detector = detector;
  }

  /** At least 1. */
  get size(): number {
    const now = performance.now();
    if (now - this.#readAt > REREAD_MS) {
      this.#size = Math.max(1, Math.floor(this.#detector.stats().suggestedWindow));
      this.#readAt = now;
    }
    return this.#size;
  }
}
