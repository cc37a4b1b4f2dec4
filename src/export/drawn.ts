/**
 * A zip with the pictures of a job, their boxes drawn, as JPEG. `pictures.csv` says which image each is of,
 * `left-out.txt` which images have no picture, and why.
 */
import { posix } from 'node:path';
import type { Detection } from '../api/schemas/image.js';
import { exactCell } from './csv.js';
import { isProcessed, type ExportSource } from './export-source.js';
import { safeName, UniqueStems } from './yolo.js';
import { zipped, type ZipFile } from './zipped.js';

/** A picture, or in words why there is none. */
type Drawn = { jpeg: Uint8Array } | { leftOut: string };

export interface DrawnSource extends Pick<ExportSource, 'pages' | 'fileName'> {
  /** Whether a picture shows this box. */
  isShown: (box: Detection) => boolean;
  draw: (imagePath: string, boxes: readonly Detection[]) => Promise<Drawn>;
}

/** One picture is drawn at a time, when it is read. */
export function writeDrawn(source: DrawnSource): AsyncGenerator<Uint8Array, void> {
  return zipped(files(source));
}

async function* files(source: DrawnSource): AsyncGenerator<ZipFile, void> {
  const { pages, fileName, isShown, draw } = source;
  const stems = new UniqueStems();
  const table = ['name,image_path,boxes\r\n'];
  const leftOut: string[] = [];
  for await (const page of pages()) {
    for (const entry of page) {
      const path = fileName(entry.image_path);
      if (!isProcessed(entry)) {
        leftOut.push(`${path}: ${entry.error.detail}\n`);
        continue;
      }
      const boxes = entry.detections.filter(isShown);
      const drawn = await draw(entry.image_path, boxes);
      if ('leftOut' in drawn) {
        leftOut.push(`${path}: ${drawn.leftOut}\n`);
        continue;
      }
      const name = `${stems.of(safeName(posix.parse(path).name))}.jpg`;
      table.push(`${exactCell(name)},${exactCell(path)},${boxes.length}\r\n`);
      yield { name: `pictures/${name}`, content: drawn.jpeg };
    }
  }
  yield { name: 'pictures.csv', content: table.join('') };
  if (leftOut.length > 0) yield { name: 'left-out.txt', content: leftOut.join('') };
}
