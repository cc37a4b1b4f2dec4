/** How many bytes of pictures that were sent, or are being sent, the process holds. */
import { LatticeError } from '../../api/errors.js';

/** What one request holds. */
export interface Share {
  /** Throws `overloaded` when there is no room for so many more bytes. */
  add(bytes: number): void;
}

export class BytesInHand {
  readonly #most: number;
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get held(): number {
    return this.#held;
  }

  /** What `work` adds counts until its promise settles. */
  async during<T>(work: (share: Share) => Promise<T>): Promise<T> {
    const share = this.open();
    try {
      return await work(share);
    } finally {
      share.release();
    }
  }

  /** What is added counts until `release`, which is called once. */
  open(): Share & { release(): void } {
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
