/**
 * Limits the images in the detector. An image may enter while fewer than one window of its level or above are there:
 * urgent work enters at once although less urgent work fills the window, by at most one window per level.
 */
import type { Detector } from '../../execution/detector.js';
import { TOP_PRIORITY } from '../../api/options.js';

const REREAD_MS = 100;

export class FlightWindow {
  readonly #detector: Detector;
  readonly #inFlight = new Array<number>(TOP_PRIORITY + 1).fill(0);
  #size = 1;
  #readAt = -Infinity;

  constructor(detector: Detector) {
    this.#detector = detector;
  }

  /** The window that the detector suggests, at least 1; read again every 100 ms. */
  get size(): number {
    const now = performance.now();
    if (now - this.#readAt > REREAD_MS) {
      this.#size = Math.max(1, Math.floor(this.#detector.stats().suggestedWindow));
      this.#readAt = now;
    }
    return this.#size;
  }

  isOpen(level: number): boolean {
    return this.#inFlight.slice(level).reduce((sum, count) => sum + count, 0) < this.size;
  }

  enter(level: number): void {
    this.#inFlight[level] = (this.#inFlight[level] ?? 0) + 1;
  }

  leave(level: number): void {
    this.#inFlight[level] = (this.#inFlight[level] ?? 1) - 1;
  }
}
