/**
 * A zip with the labels of a YOLO dataset. The images are not in it: `images.csv` says under which name each belongs
 * into `images/`, `README.txt` how. Failed images are left out and counted there.
 */
import { posix } from 'node:path';
import type { Detection, ImageSize } from '../api/schemas/image.js';
import { exactCell } from './csv.js';
import { ClassNumbers, isProcessed, type ExportSource } from './export-source.js';
import { safeName } from './file-names.js';
import { zipped, type ZipFile } from './zipped.js';

export function writeYolo(source: ExportSource): AsyncGenerator<Uint8Array, void> {
  return zipped(files(source));
}

async function* files({ classes, pages, model }: ExportSource): AsyncGenerator<ZipFile, void> {
  const numbers = new ClassNumbers(classes);
  const stems = new UniqueStems();
  const table = ['name,image_path,model_digest,precision\r\n'];
  let count = 0;
  let failed = 0;
  for await (const page of pages()) {
    for (const entry of page) {
      if (!isProcessed(entry)) {
        failed += 1;
        continue;
      }
      const { name: ownName, ext } = posix.parse(entry.image_path);
      const stem = stems.of(safeName(ownName));
      const content = labelLines(entry.detections, entry.image, numbers);
      count += 1;
      const { model_digest: digest = '', precision = '' } = entry;
      const name = exactCell(stem + safeName(ext));
      table.push(`${name},${exactCell(entry.image_path)},${digest},${precision}\r\n`);
      yield { name: `labels/${stem}.txt`, content };
    }
  }
  yield { name: 'images.csv', content: table.join('') };
  yield { name: 'classes.txt', content: numbers.names.map((name) => `${name}\n`).join('') };
  yield { name: 'data.yaml', content: dataYaml(numbers.names) };
  yield { name: 'README.txt', content: readme(model, count, failed) };
}

/**
 * `class x_center y_center width height`, fractions of the image. No confidence: many readers fail on a sixth column.
 */
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

/** A JSON text is a YAML text: any class name is quoted right. */
function dataYaml(names: readonly string[]): string {
  const list = names.map((name) => `  - ${JSON.stringify(name)}\n`).join('');
  return `train: images\nval: images\nnc: ${names.length}\nnames:${list === '' ? ' []\n' : `\n${list}`}`;
}

function readme(model: string, count: number, failed: number): string {
  return `Labels of ${count} images, detected with ${model}. ${failed} failed images are left out.

labels/      one file per image: class x_center y_center width height, as fractions of the image
data.yaml    the dataset; its folders are relative to this file
classes.txt  the class names in the order of their numbers
images.csv   under which name each image belongs into the folder images/

The images are not in this archive. Make the folder images/ beside labels/ and copy each image_path of
images.csv to images/NAME. Images that a camera stored turned (EXIF orientation) must be turned upright:
the labels are those of the upright image.
`;
}
