/**
 * How many images may be in the detector. An image may go in while fewer than a window of its level or above are
 * there: urgent work enters at once although the window is full of lesser work, by one window a level at most.
 */
import { TOP_PRIORITY } from '../priority.js';

export class FlightLevels {
  readonly #inFlight = new Array<number>(TOP_PRIORITY + 1).fill(0);

  get total(): number {
    return this.#inFlight.reduce((sum, count) => sum + count, 0);
  }

  hasRoom(level: number, window: number): boolean {
    const above = this.#inFlight.slice(level).reduce((sum, count) => sum + count, 0);
    return above < window;
  }

  enter(level: number): void {
    this.#inFlight[level] = (this.#inFlight[level] ?? 0) + 1;
  }

  leave(level: number): void {
    this.#inFlight[level] = (this.#inFlight[level] ?? 1) - 1;
  }
}
