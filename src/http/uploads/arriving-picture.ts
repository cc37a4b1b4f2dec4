/** A picture while its bytes arrive: each is copied once, into memory that was counted before. */
import { LatticeError } from '../../api/errors.js';
import type { Share } from './bytes-in-hand.js';

export class ArrivingPicture {
  readonly #maxBytes: number;
  readonly #share: Share;
  /** Null when the length of the body is unknown. */
  readonly #whole: Buffer | null;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  /** `bodyBytes`: length of the body that it arrives in, null for a chunked one. Throws `overloaded`. */
  constructor(maxBytes: number, bodyBytes: number | null, share: Share) {
    this.#maxBytes = maxBytes;
    this.#share = share;
    if (bodyBytes !== null) share.add(Math.min(bodyBytes, maxBytes));
    this.#whole = bodyBytes === null ? null : Buffer.allocUnsafe(Math.min(bodyBytes, maxBytes));
  }

  /** Throws `body_too_large` or `overloaded`. */
  add(chunk: Buffer): void {
    const size = this.#size + chunk.length;
    if (size > this.#maxBytes) {
      throw new LatticeError('body_too_large', `The picture exceeds ${this.#maxBytes} bytes.`);
    }
    if (this.#whole === null) {
      // At the end the chunks and the picture made of them are in memory together.
      this.#share.add(2 * chunk.length);
      this.#chunks.push(chunk);
    } else chunk.copy(this.#whole, this.#size);
    this.#size = size;
  }

  bytes(): Buffer {
    return this.#whole?.subarray(0, this.#size) ?? Buffer.concat(this.#chunks);
  }
}
