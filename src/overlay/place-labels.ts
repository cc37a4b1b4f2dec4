/** Places the labels of boxes so that none covers another one, and none hides a small box. */

export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface LabelledBox {
  rect: Rect;
  /** Null: the box has no label. */
  label: { width: number; height: number } | null;
}

/** A label that hides a larger share of another box is left out. */
const MOST_HIDDEN = 0.4;
const ALL_HIDDEN = 0.999;

/**
 * The place of each box's label; null where there is none. Earlier boxes choose first. Of the places that are free,
 * each takes the one that covers least of the boxes. All lengths have one unit.
 */
export function placeLabels(
  boxes: readonly LabelledBox[],
  view: { width: number; height: number },
): (Rect | null)[] {
  const placed: Rect[] = [];
  const rects = boxes.map(({ rect }) => rect);
  return boxes.map(({ rect, label }) => {
    if (label === null) return null;
    const free = candidates(rect, label, view).filter(
      (place) => isInside(place, view) && !placed.some((other) => overlap(place, other) > 0),
    );
    const best = leastCovering(free, rect, rects);
    if (best !== null) placed.push(best);
    return best;
  });
}

/** Above, below and inside, at the left and at the right edge, moved sideways into the view. */
function candidates(
  { x, y, width, height }: Rect,
  label: { width: number; height: number },
  view: { width: number },
): Rect[] {
  const slide = (left: number): number => Math.max(0, Math.min(left, view.width - label.width));
  const columns = [slide(x), slide(x + width - label.width)];
  const rows = [y - label.height, y + height, y];
  return rows.flatMap((top) => columns.map((left) => ({ x: left, y: top, ...label })));
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
      const most = box === own ? ALL_HIDDEN : MOST_HIDDEN;
      if (area > most * box.width * box.height) covered = Infinity;
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
