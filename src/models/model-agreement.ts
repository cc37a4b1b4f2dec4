/** Where the boxes of two models on the same pictures agree, and where they do not. */
import { compareBoxes, type ComparedBox } from '../api/box-changes.js';
import { classKey } from '../api/class-key.js';
import type { Detection } from '../api/image.js';
import { BOX_SIZES, sideOf } from './box-sizes.js';

export interface PictureBoxes {
  picture: string;
  /** Of the first model and of the second. */
  first: readonly Detection[];
  second: readonly Detection[];
}

/** Boxes by what became of them from the first model to the second. */
export interface AgreementRow {
  /** A class or a size; null: all. */
  of: string | null;
  first: number;
  second: number;
  /** In one place, whatever their class. */
  matched: number;
  /** Of the matched ones, those of another class. */
  flipped: number;
  gained: number;
  lost: number;
  /** Mean of the second score less the first one, of the matched boxes; null without one. */
  scoreShift: number | null;
}

export interface PictureAgreement {
  picture: string;
  /** Of the boxes of both models, those in one place and of one class, 0 to 1; 1 without a box. */
  share: number;
  gained: number;
  lost: number;
  flipped: number;
}

export interface ModelAgreement {
  pictures: number;
  /** Of all boxes, as of one picture. */
  share: number;
  all: AgreementRow;
  byClass: AgreementRow[];
  bySize: AgreementRow[];
  /** Those that agree least, at most ten; none that agrees in full. */
  least: PictureAgreement[];
}

const MOST_SHOWN = 10;

type Compared = ComparedBox<Detection>;

/**
 * Boxes above `floor` count; the partner of one may be weaker, so that a box at the very floor is no accident. A box has
 * the class and the size that the first model gives it, one that only the second has its own.
 */
export function agreementOf(pictures: readonly PictureBoxes[], floor: number): ModelAgreement {
  const compared = pictures.map(({ first, second }) =>
    compareBoxes(first, second).filter(
      ({ before, after }) => Math.max(before?.confidence ?? 0, after?.confidence ?? 0) > floor,
    ),
  );
  const boxes = compared.flat();
  const names = new Set(boxes.map((each) => shownOf(each).class));
  const agreements = pictures.map(({ picture }, at) => pictureOf(picture, compared[at] ?? []));
  return {
    pictures: pictures.length,
    share: shareOf(boxes),
    all: rowOf(null, boxes),
    byClass: [...names]
      .map((name) =>
        rowOf(
          name,
          boxes.filter((each) => shownOf(each).class === name),
        ),
      )
      .sort((one, other) => other.first + other.second - (one.first + one.second)),
    bySize: BOX_SIZES.map(([name, least, most]) => {
      const isOfSize = (side: number) => side >= least && side < most;
      return rowOf(
        name,
        boxes.filter((each) => isOfSize(sideOf(shownOf(each).box))),
      );
    }),
    least: agreements
      .filter(({ share }) => share < 1)
      .sort((a, b) => a.share - b.share)
      .slice(0, MOST_SHOWN),
  };
}

function rowOf(of: string | null, boxes: readonly Compared[]): AgreementRow {
  const matched = boxes.filter(isMatched);
  const shifts = matched.map(({ before, after }) => after.confidence - before.confidence);
  return {
    of,
    first: boxes.filter(({ before }) => before !== null).length,
    second: boxes.filter(({ after }) => after !== null).length,
    matched: matched.length,
    flipped: matched.filter(isFlipped).length,
    gained: boxes.filter(({ change }) => change === 'gained').length,
    lost: boxes.filter(({ change }) => change === 'lost').length,
    scoreShift:
      shifts.length === 0 ? null : shifts.reduce((sum, shift) => sum + shift, 0) / shifts.length,
  };
}

function pictureOf(picture: string, boxes: readonly Compared[]): PictureAgreement {
  const { gained, lost, flipped } = rowOf(null, boxes);
  return { picture, share: shareOf(boxes), gained, lost, flipped };
}

function shareOf(boxes: readonly Compared[]): number {
  const { first, second, matched, flipped } = rowOf(null, boxes);
  return first + second === 0 ? 1 : (2 * (matched - flipped)) / (first + second);
}

type Matched = Compared & { before: Detection; after: Detection };

const isMatched = (each: Compared): each is Matched => each.before !== null && each.after !== null;

const isFlipped = ({ before, after }: Matched): boolean =>
  classKey(before.class) !== classKey(after.class);

function shownOf({ before, after }: Compared): Detection {
  const box = before ?? after;
  if (box === null) throw new Error('A compared box is in neither answer.');
  return box;
}
