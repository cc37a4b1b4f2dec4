/** Draws boxes with labels straight into RGB pixels. */
import { GLYPH_HEIGHT, GLYPH_WIDTH, hasDot } from './bitmap-font.js';
import type { Detection } from '../contract/image-result.js';

export interface Canvas {
  /** RGB, 8 bit, rows without padding. */
  data: Uint8Array;
  width: number;
  height: number;
}

type Colour = readonly [number, number, number];

/** Easy to tell apart on photographs, also with the common colour blindness. */
const PALETTE: readonly Colour[] = [
  [230, 75, 53],
  [0, 140, 220],
  [0, 158, 115],
  [240, 180, 20],
  [180, 90, 200],
  [86, 200, 230],
  [255, 120, 180],
  [150, 110, 60],
];
const INK: Colour = [255, 255, 255];

/** The same class has the same colour in every picture. */
export function colourOf(className: string): Colour {
  let hash = 0;
  for (const character of className.toLowerCase()) {
    hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  }
  return PALETTE[hash % PALETTE.length] ?? INK;
}

/** Rectangles first, labels on top of them; the surest box is drawn last. */
export function drawDetections(canvas: Canvas, detections: readonly Detection[]): void {
  const unit = Math.max(1, Math.round(Math.max(canvas.width, canvas.height) / 640));
  const weakestFirst = [...detections].reverse();
  for (const { box, class: name } of weakestFirst) frame(canvas, box, 2 * unit, colourOf(name));
  for (const { box, confidence, class: name } of weakestFirst) {
    const text = `${name} ${confidence.toFixed(2)}`;
    // Small letters where large ones would lie over the box's neighbours.
    const dot = labelWidth(text, 2 * unit) > box[2] - box[0] ? unit : 2 * unit;
    label(canvas, box, text, dot, colourOf(name));
  }
}

/** The frame lies inside the box, `thickness` pixels wide. */
function frame(canvas: Canvas, box: Detection['box'], thickness: number, colour: Colour): void {
  const [left, top, right, bottom] = box.map(Math.round) as Detection['box'];
  fill(canvas, left, top, right, top + thickness, colour);
  fill(canvas, left, bottom - thickness, right, bottom, colour);
  fill(canvas, left, top, left + thickness, bottom, colour);
  fill(canvas, right - thickness, top, right, bottom, colour);
}

const labelWidth = (text: string, dot: number) => (text.length * (GLYPH_WIDTH + 1) + 1) * dot;

/** Above the box, or inside it where the picture ends; moved left where it would leave on the right. */
function label(
  canvas: Canvas,
  box: Detection['box'],
  text: string,
  dot: number,
  colour: Colour,
): void {
  const width = labelWidth(text, dot);
  const height = (GLYPH_HEIGHT + 2) * dot;
  const left = Math.max(0, Math.min(Math.round(box[0]), canvas.width - width));
  const above = Math.round(box[1]) - height;
  const top = above >= 0 ? above : Math.max(0, Math.round(box[1]));
  fill(canvas, left, top, left + width, top + height, colour);
  Array.from(text).forEach((character, index) => {
    for (let row = 0; row < GLYPH_HEIGHT; row++) {
      for (let column = 0; column < GLYPH_WIDTH; column++) {
        if (!hasDot(character, column, row)) continue;
        const x = left + (1 + index * (GLYPH_WIDTH + 1) + column) * dot;
        const y = top + (1 + row) * dot;
        fill(canvas, x, y, x + dot, y + dot, INK);
      }
    }
  });
}

/** `right` and `bottom` are exclusive; what lies outside of the canvas is cut off. */
function fill(
  canvas: Canvas,
  left: number,
  top: number,
  right: number,
  bottom: number,
  colour: Colour,
): void {
  const fromX = Math.max(0, left);
  const toX = Math.min(canvas.width, right);
  const toY = Math.min(canvas.height, bottom);
  for (let y = Math.max(0, top); y < toY; y++) {
    for (let x = fromX; x < toX; x++) canvas.data.set(colour, 3 * (y * canvas.width + x));
  }
}
