/** The label of a marked box. All lengths are pixels of the screen. */
import type { Rect } from '../../overlay/place-labels.js';

export const LABEL_HEIGHT = 18;
/** A lower box has no label until it is pointed at. */
export const LEAST_BOX = 18;

/** Shown in any case: above the box, else inside. */
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
