/** Boxes as lines of a YOLO label file, and the names of such files. */
import type { Detection, ImageSize } from '../api/image.js';
import type { ClassNumbers } from './class-numbers.js';

/** `class x_center y_center width height`, fractions of the image. No confidence: many readers fail on a sixth column. */
export function labelLines(
  detections: readonly Detection[],
  { width, height }: ImageSize,
  classes: ClassNumbers,
): string {
  const line = ({ box: [x1, y1, x2, y2], class: name }: Detection): string => {
    const [left, right] = [fraction(x1, width), fraction(x2, width)];
    const [top, bottom] = [fraction(y1, height), fraction(y2, height)];
    const numbers = [(left + right) / 2, (top + bottom) / 2, right - left, bottom - top];
    return `${classes.of(name)} ${numbers.map((number) => number.toFixed(6)).join(' ')}\n`;
  };
  return detections.map(line).join('');
}

function fraction(pixels: number, side: number): number {
  return Math.min(1, Math.max(0, pixels / side));
}

/**
 * File names without folder and ending, each once: readers pair images and labels by them. The second `a.jpg` is called
 * `a-2`. Letter case does not count, as on some file systems.
 */
export class UniqueStems {
  readonly #taken = new Map<string, number>();

  of(stem: string): string {
    let unique = stem;
    let count = this.#taken.get(stem.toLowerCase()) ?? 0;
    while (this.#taken.has(unique.toLowerCase())) unique = `${stem}-${(count += 1) + 1}`;
    this.#taken.set(stem.toLowerCase(), count);
    if (unique !== stem) this.#taken.set(unique.toLowerCase(), 0);
    return unique;
  }
}
