/** Numbers of paths in little memory: a million paths take 17 to 34 MB. */
import { createHash } from 'node:crypto';

/** Share of the places that are taken, at most. */
const FULLEST = 0.7;
const FIRST_PLACES = 1_024;

interface Place {
  at: number;
  /** 64 bits of the digest of the path. */
  high: number;
  low: number;
}

export class PathNumbers {
  #high = new Uint32Array(FIRST_PLACES);
  #low = new Uint32Array(FIRST_PLACES);
  /** 0: the place is free. */
  #numbers = new Uint32Array(FIRST_PLACES);
  #size = 0;

  /** How many paths have a number. */
  get size(): number {
    return this.#size;
  }

  /** 0: the path has none. */
  of(path: string): number {
    return this.#numbers[this.#placeOf(path).at] ?? 0;
  }

  /** `number`: above 0. */
  set(path: string, number: number): void {
    if (this.#size >= FULLEST * this.#numbers.length) this.#grow();
    this.#put(this.#placeOf(path), number);
  }

  #put({ at, high, low }: Place, number: number): void {
    if (this.#numbers[at] === 0) this.#size += 1;
    this.#high[at] = high;
    this.#low[at] = low;
    this.#numbers[at] = number;
  }

  #grow(): void {
    const [highs, lows, numbers] = [this.#high, this.#low, this.#numbers];
    const places = 2 * numbers.length;
    this.#high = new Uint32Array(places);
    this.#low = new Uint32Array(places);
    this.#numbers = new Uint32Array(places);
    this.#size = 0;
    numbers.forEach((number, at) => {
      if (number > 0) this.#put(this.#placeFor(highs[at] ?? 0, lows[at] ?? 0), number);
    });
  }

  #placeOf(path: string): Place {
    const digest = createHash('sha1').update(path).digest();
    return this.#placeFor(digest.readUInt32LE(0), digest.readUInt32LE(4));
  }

  /** The place with this digest, or the free one for it. */
  #placeFor(high: number, low: number): Place {
    const last = this.#numbers.length - 1;
    let at = low & last;
    while (this.#numbers[at] !== 0 && (this.#high[at] !== high || this.#low[at] !== low)) {
      at = (at + 1) & last;
    }
    return { at, high, low };
  }
}
