/** Where the labels of boxes go, so that no label covers another and few cover a box. */

/** Left, top, right, bottom. */
export type Rectangle = readonly [number, number, number, number];

export interface LabelledBox {
  box: Rectangle;
  /** Of its label. */
  width: number;
  height: number;
}

export interface Place {
  left: number;
  top: number;
}

/** A label on its own box hides what it names, on another box it hides something else besides. */
const OWN_WEIGHT = 0.5;
/** Breaks ties in favour of the earlier candidate. */
const ORDER_WEIGHT = 0.02;

/**
 * One place per box, in their order, which is also the order of choice: the surest box comes first. Null where every
 * place is taken or outside of the view. Boxes, labels and the view share one unit.
 */
export function placeLabels(
  boxes: readonly LabelledBox[],
  view: { width: number; height: number },
): (Place | null)[] {
  const taken: Rectangle[] = [];
  const places: (Place | null)[] = [];
  for (const labelled of boxes) {
    const label = bestPlace(labelled, boxes, taken, view);
    if (label !== null) taken.push(label);
    places.push(label === null ? null : { left: label[0], top: label[1] });
  }
  return places;
}

function bestPlace(
  labelled: LabelledBox,
  boxes: readonly LabelledBox[],
  taken: readonly Rectangle[],
  view: { width: number; height: number },
): Rectangle | null {
  let best: Rectangle | null = null;
  let least = Infinity;
  candidates(labelled, view).forEach((label, order) => {
    if (!isInside(label, view) || taken.some((other) => sharedArea(label, other) > 0)) return;
    const cost = ORDER_WEIGHT * order + coverage(label, labelled, boxes);
    if (cost >= least) return;
    best = label;
    least = cost;
  });
  return best;
}

/** Above, below and inside, at the left and at the right edge, moved into the view sideways. */
function candidates(
  { box: [left, top, right, bottom], width, height }: LabelledBox,
  view: { width: number },
): Rectangle[] {
  const slide = (x: number): number => Math.max(0, Math.min(x, view.width - width));
  const starts = [slide(left), slide(right - width)];
  const rows = [top - height, bottom, top, bottom - height];
  return rows.flatMap((y) => starts.map((x): Rectangle => [x, y, x + width, y + height]));
}

function isInside([left, top, right, bottom]: Rectangle, view: { width: number; height: number }) {
  return left >= 0 && top >= 0 && right <= view.width && bottom <= view.height;
}

/** Share of the label over each box, relative to the smaller of both: a small box must not vanish. */
function coverage(
  label: Rectangle,
  own: LabelledBox,
  boxes: readonly LabelledBox[],
): number {
  let sum = 0;
  for (const other of boxes) {
    const shared = sharedArea(label, other.box);
    if (shared === 0) continue;
    const weight = other === own ? OWN_WEIGHT : 1;
    sum += (weight * shared) / Math.max(1, Math.min(areaOf(label), areaOf(other.box)));
  }
  return sum;
}

function areaOf([left, top, right, bottom]: Rectangle): number {
  return Math.max(0, right - left) * Math.max(0, bottom - top);
}

function sharedArea(a: Rectangle, b: Rectangle): number {
  const width = Math.min(a[2], b[2]) - Math.max(a[0], b[0]);
  const height = Math.min(a[3], b[3]) - Math.max(a[1], b[1]);
  return width > 0 && height > 0 ? width * height : 0;
}
