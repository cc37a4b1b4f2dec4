/** Where the labels of boxes stand: none covers another one, and none hides a small box. */

/** In pixels of the screen. */
export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface LabelledBox {
  rect: Rect;
  /** Of its label. */
  labelWidth: number;
}

export const LABEL_HEIGHT = 18;
/** A lower box has no label until it is pointed at. */
const LEAST_BOX = 18;
/** A label that hides a larger share of another box is left out. */
const MOST_HIDDEN = 0.4;

/**
 * The place of each box's label; null where there is none. Earlier boxes come first. Of the places that are free, each
 * takes the one that covers least of the boxes.
 */
export function placeLabels(
  boxes: readonly LabelledBox[],
  view: { width: number; height: number },
): (Rect | null)[] {
  const placed: Rect[] = [];
  const rects = boxes.map(({ rect }) => rect);
  return boxes.map(({ rect, labelWidth }) => {
    if (rect.height < LEAST_BOX) return null;
    const free = candidates(rect, labelWidth).filter(
      (label) => isInside(label, view) && !placed.some((other) => overlap(label, other) > 0),
    );
    const best = leastCovering(free, rect, rects);
    if (best !== null) placed.push(best);
    return best;
  });
}

/** The label of one box, in any case: above it, else inside. */
export function labelPlace(
  rect: Rect,
  labelWidth: number,
  view: { width: number; height: number },
): Rect {
  const x = Math.max(0, Math.min(rect.x, view.width - labelWidth));
  const above = rect.y - LABEL_HEIGHT;
  const y = above >= 0 ? above : Math.max(0, Math.min(rect.y, view.height - LABEL_HEIGHT));
  return { x, y, width: labelWidth, height: LABEL_HEIGHT };
}

function candidates(rect: Rect, width: number): Rect[] {
  const right = rect.x + rect.width - width;
  const above = rect.y - LABEL_HEIGHT;
  const below = rect.y + rect.height;
  const places: [number, number][] = [
    [rect.x, above],
    [right, above],
    [rect.x, below],
    [right, below],
    [rect.x, rect.y],
  ];
  return places.map(([x, y]) => ({ x, y, width, height: LABEL_HEIGHT }));
}

function leastCovering(free: readonly Rect[], own: Rect, boxes: readonly Rect[]): Rect | null {
  let best: Rect | null = null;
  let least = Infinity;
  for (const label of free) {
    let covered = 0;
    for (const box of boxes) {
      const area = overlap(label, box);
      if (area === 0) continue;
      covered += area;
      if (box !== own && area > MOST_HIDDEN * box.width * box.height) covered = Infinity;
    }
    if (covered < least) {
      least = covered;
      best = label;
    }
  }
  return best;
}

function isInside({ x, y, width, height }: Rect, view: { width: number; height: number }): boolean {
  return x >= 0 && y >= 0 && x + width <= view.width && y + height <= view.height;
}

function overlap(a: Rect, b: Rect): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  return width > 0 && height > 0 ? width * height : 0;
}
