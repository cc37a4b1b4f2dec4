/** The part of a picture that a stage shows. At zoom 1 the picture fills the stage. */
import type { Rect } from '../../overlay/place-labels.js';

export interface Size {
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

/** The picture's corner lies at `x`, `y` of the stage, in pixels of the screen. */
export interface ViewWindow extends Point {
  zoom: number;
}

export const WHOLE: ViewWindow = { zoom: 1, x: 0, y: 0 };
export const MOST_ZOOM = 16;
/** The margin around a box that is zoomed to, as a fraction of the stage. */
const PADDING = 0.2;

/** The point of the picture under `at` stays there. */
export function zoomedAt(view: ViewWindow, factor: number, at: Point, stage: Size): ViewWindow {
  const zoom = Math.min(MOST_ZOOM, Math.max(1, view.zoom * factor));
  const by = zoom / view.zoom;
  return inside({ zoom, x: at.x - (at.x - view.x) * by, y: at.y - (at.y - view.y) * by }, stage);
}

export function moved(view: ViewWindow, dx: number, dy: number, stage: Size): ViewWindow {
  return inside({ zoom: view.zoom, x: view.x + dx, y: view.y + dy }, stage);
}

/** Shows the box in the middle, as large as fits. `rect` is at zoom 1. */
export function windowOn(rect: Rect, stage: Size): ViewWindow {
  const room = 1 - 2 * PADDING;
  const fit = Math.min((stage.width * room) / rect.width, (stage.height * room) / rect.height);
  const zoom = Math.min(MOST_ZOOM / 2, Math.max(1, fit));
  const x = stage.width / 2 - (rect.x + rect.width / 2) * zoom;
  const y = stage.height / 2 - (rect.y + rect.height / 2) * zoom;
  return inside({ zoom, x, y }, stage);
}

/** `x1, y1, x2, y2` of the picture -> pixels of the stage. */
export function onScreen(
  [x1, y1, x2, y2]: readonly [number, number, number, number],
  picture: Size,
  stage: Size,
  view: ViewWindow,
): Rect {
  const scale = (stage.width / picture.width) * view.zoom;
  return {
    x: view.x + x1 * scale,
    y: view.y + y1 * scale,
    width: (x2 - x1) * scale,
    height: (y2 - y1) * scale,
  };
}

/** A point of the picture: `x` and `y` as fractions of its width and height. */
export type PicturePoint = readonly [x: number, y: number];

/** Fractions have four digits: a tenth of a pixel in a picture of 1000 pixels. Texts of programs stay short. */
const SHARE_STEPS = 10_000;

/** Moves a point that lies beside the picture onto its edge. */
export function shareOf(x: number, y: number): PicturePoint {
  const rounded = (share: number) =>
    Math.round(Math.min(1, Math.max(0, share)) * SHARE_STEPS) / SHARE_STEPS;
  return [rounded(x), rounded(y)];
}

export function shareAt({ x, y }: Point, stage: Size, view: ViewWindow): PicturePoint {
  const { zoom } = view;
  return shareOf((x - view.x) / (stage.width * zoom), (y - view.y) / (stage.height * zoom));
}

export function placeOf([x, y]: PicturePoint, stage: Size, view: ViewWindow): Point {
  const { zoom } = view;
  return { x: view.x + x * stage.width * zoom, y: view.y + y * stage.height * zoom };
}

/** Index of the smallest box under a point: larger ones would hide it. */
export function boxAt(point: Point, rects: readonly Rect[]): number | null {
  let found: number | null = null;
  let least = Infinity;
  rects.forEach(({ x, y, width, height }, index) => {
    const hit = point.x >= x && point.x <= x + width && point.y >= y && point.y <= y + height;
    if (!hit || width * height >= least) return;
    found = index;
    least = width * height;
  });
  return found;
}

/** Moves the window so that no edge of the picture comes into the stage. */
function inside({ zoom, x, y }: ViewWindow, { width, height }: Size): ViewWindow {
  const clamp = (value: number, length: number) =>
    Math.min(0, Math.max(length * (1 - zoom), value));
  return { zoom, x: clamp(x, width), y: clamp(y, height) };
}
