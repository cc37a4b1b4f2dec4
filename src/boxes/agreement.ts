/**
 * Counts where the boxes of two sides on the same pictures agree. The sides are two jobs, two models, an alias and its
 * shadow, or an engine and f32.
 */
import { classKey } from '../api/class-key.js';
import type { Detection } from '../api/schemas/image.js';
import { rounded } from '../base/rounded.js';
import { isOneClass, type BoxPair } from './pairing.js';
import { BOX_SIZES, sideOf } from './sizes.js';

export interface PairedPicture<P> {
  picture: P;
  /** `before` is the box of the first side. */
  boxes: readonly BoxPair<Detection>[];
}

/**
 * Counts boxes by how they changed from the first side to the second. A box counts under the class and size of the
 * first side; a box that only the second side has, under its own.
 */
export interface AgreementRow {
  /** A class or a size; null: all. */
  of: string | null;
  first: number;
  /** Boxes of the second side, counted under their own class and size. */
  second: number;
  /** Pairs in one place, whatever their classes. */
  matched: number;
  /** Matched boxes whose classes differ. */
  flipped: number;
  gained: number;
  lost: number;
  /** Mean of the second score minus the first one over the matched boxes; null without such boxes. */
  scoreShift: number | null;
}

export interface PictureAgreement<P = string> {
  picture: P;
  /** The fraction of the boxes of both sides that are in one place and of one class; 1 without a box. */
  share: number;
  gained: number;
  lost: number;
  flipped: number;
}

export interface Agreement<P = string> {
  pictures: number;
  /** Share of agreement over all boxes, computed as for one picture. */
  share: number;
  all: AgreementRow;
  byClass: AgreementRow[];
  bySize: AgreementRow[];
  /** At most ten pictures, the ones that agree least; none that agrees fully. */
  least: PictureAgreement<P>[];
}

const MOST_SHOWN = 10;
/** The decimals of a share, which confidences have too. */
const SHARE_DECIMALS = 6;

/** The report on pictures that are all in memory; see `AgreementSums`. */
export function agreementOf<P>(
  pictures: Iterable<PairedPicture<P>>,
  floor: number,
  partnersCount = true,
): Agreement<P> {
  const sums = new AgreementSums<P>(floor, partnersCount);
  for (const { picture, boxes } of pictures) sums.add(picture, boxes);
  return sums.result();
}

/** Null where no box counts. */
export const shareOrNull = ({ share, all }: Pick<Agreement, 'share' | 'all'>): number | null =>
  all.first + all.second === 0 ? null : share;

/**
 * Is given one picture after the other, and keeps sums and the pictures that agree least. Boxes above `floor` count.
 * The partner of one may be weaker, so that a box at the very floor is no accident; it counts itself where
 * `partnersCount`.
 */
export class AgreementSums<P = string> {
  readonly #floor: number;
  readonly #partnersCount: boolean;
  #pictures = 0;
  readonly #all = new RowSums(null);
  readonly #byClass = new Map<string, RowSums>();
  readonly #bySize = BOX_SIZES.map(([name]) => new RowSums(name));
  readonly #least: PictureAgreement<P>[] = [];

  constructor(floor: number, partnersCount = true) {
    this.#floor = floor;
    this.#partnersCount = partnersCount;
  }

  add(picture: P, boxes: PairedPicture<P>['boxes']): void {
    const own = new RowSums(null);
    for (const pair of boxes) {
      const { before, after } = pair;
      const [inFirst, inSecond] = [this.#counts(before, after), this.#counts(after, before)];
      if (!inFirst && !inSecond) continue;
      for (const row of [own, this.#all, ...this.#rowsOf(before ?? after)]) {
        row?.add(pair);
        if (row && inFirst) row.first += 1;
      }
      if (!inSecond) continue;
      for (const row of [own, this.#all, ...this.#rowsOf(after)]) if (row) row.second += 1;
    }
    this.#pictures += 1;
    const { share, gained, lost, flipped } = own;
    const last = this.#least.at(MOST_SHOWN - 1);
    if (share === 1 || (last !== undefined && share >= last.share)) return;
    this.#least.push({ picture, share, gained, lost, flipped });
    this.#least.sort((a, b) => a.share - b.share).splice(MOST_SHOWN);
  }

  result(): Agreement<P> {
    const byClass = [...this.#byClass.values()].map((row) => row.result());
    return {
      pictures: this.#pictures,
      share: this.#all.share,
      all: this.#all.result(),
      byClass: byClass.sort((one, other) => other.first + other.second - (one.first + one.second)),
      bySize: this.#bySize.map((row) => row.result()),
      least: [...this.#least],
    };
  }

  #counts(box: Detection | null, partner: Detection | null): boolean {
    if (box === null) return false;
    const best = this.#partnersCount ? (partner?.confidence ?? 0) : 0;
    return Math.max(box.confidence, best) > this.#floor;
  }

  /** The rows of the class and of the size of the box. */
  #rowsOf(box: Detection | null): (RowSums | undefined)[] {
    if (box === null) return [];
    const key = classKey(box.class);
    const row = this.#byClass.get(key) ?? new RowSums(box.class);
    this.#byClass.set(key, row);
    const side = sideOf(box.box);
    const size = BOX_SIZES.findIndex(([, least, most]) => side >= least && side < most);
    return [row, this.#bySize[size]];
  }
}

class RowSums {
  readonly #of: string | null;
  first = 0;
  second = 0;
  #matched = 0;
  #shift = 0;
  flipped = 0;
  gained = 0;
  lost = 0;

  constructor(of: string | null) {
    this.#of = of;
  }

  add({ before, after }: BoxPair<Detection>): void {
    if (before === null) this.gained += 1;
    else if (after === null) this.lost += 1;
    else {
      this.#matched += 1;
      this.#shift += after.confidence - before.confidence;
      if (!isOneClass(before, after)) this.flipped += 1;
    }
  }

  get share(): number {
    const boxes = this.first + this.second;
    const apart = this.lost + this.gained + 2 * this.flipped;
    return boxes === 0 ? 1 : rounded(1 - apart / boxes, SHARE_DECIMALS);
  }

  result(): AgreementRow {
    const matched = this.#matched;
    return {
      of: this.#of,
      first: this.first,
      second: this.second,
      matched,
      flipped: this.flipped,
      gained: this.gained,
      lost: this.lost,
      scoreShift: matched === 0 ? null : rounded(this.#shift / matched, SHARE_DECIMALS),
    };
  }
}
