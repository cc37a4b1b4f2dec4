/** Bounds the synchronous detections in hand, so that each one admitted can still meet its deadline. */
import { LatticeError } from '../../errors.js';

const LONGEST_RETRY_S = 60;

export class SyncAdmission {
  readonly #limit: number;
  readonly #imagesPerSecond: () => number;
  #inHand = 0;

  /** `imagesPerSecond` is the present throughput, 0 when unknown. */
  constructor(limit: number, imagesPerSecond: () => number) {
    this.#limit = limit;
    this.#imagesPerSecond = imagesPerSecond;
  }

  /** Throws `overloaded` saying when the present queue will have drained. Every `enter` needs one `leave`. */
  enter(): void {
    if (this.#inHand >= this.#limit) {
      const rate = this.#imagesPerSecond();
      const drainS = rate > 0 ? Math.ceil(this.#inHand / rate) : 1;
      throw new LatticeError('overloaded', `${this.#inHand} synchronous requests are waiting.`, {
        retryAfterS: Math.min(Math.max(drainS, 1), LONGEST_RETRY_S),
      });
    }
    this.#inHand += 1;
  }

  leave(): void {
    this.#inHand -= 1;
  }
}
