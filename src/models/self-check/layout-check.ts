/**
 * Whether the numbers that a network gives for a picture are what its layout says. Exports differ in this where their
 * shapes and operators are the same: corners or centres, pixels or shares of the input, scores or logits.
 */
import type { NativeModel } from '../../native/contract.js';

const ROW = 6;
/** Rounding of a network that computes in few bits. */
const ROUNDING = 1e-2;
/** Pixels of the input. Boxes that all end before it are shares of the input, which may reach a little beyond 1. */
const LARGEST_SHARE = 2;

type Layout = Pick<NativeModel, 'layout' | 'names'>;

interface Row {
  box: readonly [number, number, number, number];
  score: number;
  classId: number;
}

const HOW_TO_EXPORT = 'export a detector with task=detect';

/**
 * Returns the fault of the layout and how to export the model instead, or null. A network that was cut at its head
 * needs no run, because the cut proves its layout. `run` returns the rows of a run with `everyRow`.
 */
export async function faultOfLayout(
  model: Layout,
  run: () => Promise<Float32Array>,
): Promise<string | null> {
  if (model.layout === 'scales') return null;
  const rows = rowsOf(await run()).filter(({ box, score, classId }) =>
    [...box, score, classId].every(Number.isFinite),
  );
  // A `final` output is filled up with rows of score 0.
  const filled = model.layout === 'final' ? rows.filter(({ score }) => score !== 0) : rows;
  if (filled.length === 0) return null;
  return (
    (model.layout === 'final' ? faultOfClasses(filled, model.names.length) : null) ??
    faultOfScores(filled) ??
    faultOfPlaces(filled, model.layout)
  );
}

function rowsOf(numbers: Float32Array): Row[] {
  return Array.from({ length: Math.floor(numbers.length / ROW) }, (_, index) => {
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0, score = 0, classId = 0] = numbers.subarray(index * ROW);
    return { box: [x1, y1, x2, y2], score, classId };
  });
}

function faultOfClasses(rows: readonly Row[], classes: number): string | null {
  const odd = rows.find(({ classId }) => Math.abs(classId - Math.round(classId)) > ROUNDING);
  if (odd !== undefined) {
    return (
      `the last of its 6 columns holds ${short(odd.classId)} and no number of a class. ` +
      (isShare(rows)
        ? 'It looks like RT-DETR with 2 classes and one output, which is not read: export its logits and boxes as two outputs'
        : `It looks like a score per class behind each box: ${HOW_TO_EXPORT} and without a transpose`)
    );
  }
  const ids = rows.map(({ classId }) => Math.round(classId));
  const unknown = ids.find((id) => id < 0 || id >= classes);
  if (unknown === undefined) return null;
  return (
    `it finds the class number ${unknown}, and the file names ${classes} classes, from 0 on: name all of them ` +
    'with `lattice model add --names`'
  );
}

function faultOfScores(rows: readonly Row[]): string | null {
  const scores = rows.map(({ score }) => score);
  const least = scores.reduce((a, b) => Math.min(a, b));
  const most = scores.reduce((a, b) => Math.max(a, b));
  if (least >= -ROUNDING && most <= 1 + ROUNDING) return null;
  const looks =
    least < -ROUNDING
      ? 'They look like logits: export the model with the sigmoid at its end'
      : 'They look like percentages: export the model with scores of 0 to 1';
  return `its scores go from ${short(least)} to ${short(most)}, and 0 to 1 is needed. ${looks}`;
}

function faultOfPlaces(rows: readonly Row[], layout: Layout['layout']): string | null {
  if (isShare(rows)) {
    return (
      'all its boxes lie between 0 and 1, and pixels of the input are needed. They look like shares of the picture, as ' +
      `RT-DETR gives them, which is read in its own forms only (docs/models.md): ${HOW_TO_EXPORT}, and boxes in pixels`
    );
  }
  const turned = rows.filter(({ box: [x1, y1, x2, y2] }) => x1 > x2 || y1 > y2);
  if (2 * turned.length <= rows.length) return null;
  return layout === 'final'
    ? `${turned.length} of its ${rows.length} boxes end before they start: they look like centre and size, and corners are ` +
        `needed: ${HOW_TO_EXPORT} and with suppression in the file (nms=True), or with neither`
    : `${turned.length} of its ${rows.length} boxes have a negative size: ${HOW_TO_EXPORT}, with centre and size of each box`;
}

function isShare(rows: readonly Row[]): boolean {
  const furthest = rows.reduce((most, { box }) => Math.max(most, ...box.map(Math.abs)), 0);
  return furthest > 0 && furthest <= LARGEST_SHARE;
}

/** Digits that tell what it is. */
const short = (value: number) => String(Number(value.toPrecision(3)));
