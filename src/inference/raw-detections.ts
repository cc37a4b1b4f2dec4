/** Rows of the native result -> detections as the port promises them. */
import type { Detection } from './detector.js';

const ROW = 6;

/** `rows` holds n x 6 floats: x1, y1, x2, y2, confidence, class id. Order is kept. */
export function detectionsFrom(rows: Float32Array, classNames: readonly string[]): Detection[] {
  const detections = new Array<Detection>(Math.floor(rows.length / ROW));
  for (let index = 0; index < detections.length; index++) {
    const at = index * ROW;
    const id = rows[at + 5] ?? 0;
    detections[index] = {
      box: [rows[at] ?? 0, rows[at + 1] ?? 0, rows[at + 2] ?? 0, rows[at + 3] ?? 0],
      confidence: rows[at + 4] ?? 0,
      class: classNames[id] ?? `class ${id}`,
    };
  }
  return detections;
}
