/** How many bytes of pictures that were sent, or are being sent, the process holds. */
import { LatticeError } from '../../api/errors.js';
import type { Config } from '../../settings/config.js';

/** The bytes that one request holds. */
export interface ByteReservation {
  /** Throws `overloaded` when there is no room for so many more bytes. */
  add(bytes: number): void;
}

/** Pictures of the largest size that are in hand at a time, and room for many small ones. */
const LARGEST_IN_HAND = 4;
const LEAST_IN_HAND = 64 * 1024 * 1024;

export class BytesInHand {
  readonly #most: number;
  #held = 0;

  constructor({ maxFileBytes }: Pick<Config, 'maxFileBytes'>) {
    this.#most = Math.max(LARGEST_IN_HAND * maxFileBytes, LEAST_IN_HAND);
  }

  /** Added bytes count until `release`, which is called once. */
  open(): ByteReservation & { release(): void } {
    let own = 0;
    const add = (bytes: number) => {
      if (this.#held + bytes > this.#most) {
        throw new LatticeError('overloaded', 'Too many bytes of pictures are in hand.', {
          retryAfterS: 1,
        });
      }
      this.#held += bytes;
      own += bytes;
    };
    const release = () => {
      this.#held -= own;
    };
    return { add, release };
  }
}
