/** Rows of the native result -> detections as the port promises them. */
import type { Detection } from '../api/schemas/image.js';

const ROW = 6;
/** Finer than the network knows; without it every float32 shows ten digits of its binary form. */
export const PER_PIXEL = 1e3;
export const PER_SCORE = 1e6;

/** `rows` holds n x 6 floats: x1, y1, x2, y2, confidence, class id. Order is kept. */
export function detectionsFrom(rows: Float32Array, classNames: readonly string[]): Detection[] {
  const detections = new Array<Detection>(Math.floor(rows.length / ROW));
  for (let index = 0; index < detections.length; index++) {
    const at = index * ROW;
    const id = rows[at + 5] ?? 0;
    const pixel = (side: number) => Math.round((rows[at + side] ?? 0) * PER_PIXEL) / PER_PIXEL;
    detections[index] = {
      box: [pixel(0), pixel(1), pixel(2), pixel(3)],
      confidence: Math.round((rows[at + 4] ?? 0) * PER_SCORE) / PER_SCORE,
      class: classNames[id] ?? `class ${id}`,
    };
  }
  return detections;
}
