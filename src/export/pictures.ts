/**
 * Pictures that show the boxes of images: drawn, covered or cut out. As a zip, a table in it says which image each
 * picture is of, and `left-out.txt` which images have none, and why.
 */
import type { PictureKind } from '../api/job-values.js';
import type { Detection, ImageSize } from '../api/schemas/image.js';
import { rounded } from '../base/rounded.js';
import { exactCell } from './csv.js';
import { isProcessed, type ExportSource, type ProcessedEntry } from './export-source.js';
import { classFolder, stemOf } from './file-names.js';
import { UniqueStems } from './yolo.js';
import { zipped, type ZipFile } from './zipped.js';

/** The pictures of an image, or in words why there are none. */
export type MadePictures = { jpegs: readonly Uint8Array[] } | { leftOut: string };

export interface PictureSource extends Pick<ExportSource, 'pages' | 'fileName'> {
  /** How the boxes are shown, and what else `make` depends on. */
  look: { kind: PictureKind };
  /** Whether a picture shows this box. */
  isShown: (box: Detection) => boolean;
  /** As many pictures as `PicturePlan` has files. */
  make: (
    imagePath: string,
    found: {
      detections: readonly Detection[];
      image: ImageSize;
      file?: { size: number } | undefined;
    },
  ) => Promise<MadePictures>;
}

interface PictureFile {
  name: string;
  /** Its line of the table. */
  row: string;
}

/** The pictures of one image. */
export interface PicturePlan {
  /** As the tables have it. */
  path: string;
  files: readonly PictureFile[];
  /** Changes with the image, its boxes and the look. */
  facts: string;
  make: () => Promise<MadePictures>;
}

interface Kind {
  /** Folder and table of an archive. */
  folder: string;
  table: string;
  columns: string;
  filesOf: (stem: string, path: string, boxes: readonly NumberedBox[]) => PictureFile[];
}

interface NumberedBox {
  /** Place among all boxes of the image, from 1. */
  number: number;
  box: Detection;
}

const wholePictures = {
  columns: 'name,image_path,boxes\r\n',
  filesOf: (stem, path, boxes) => {
    const name = `${stem}.jpg`;
    return [{ name, row: `${exactCell(name)},${exactCell(path)},${boxes.length}\r\n` }];
  },
} satisfies Partial<Kind>;

const KINDS: Readonly<Record<PictureKind, Kind>> = {
  drawn: { folder: 'pictures', table: 'pictures.csv', ...wholePictures },
  covered: { folder: 'covered', table: 'covered.csv', ...wholePictures },
  crops: {
    folder: 'crops',
    table: 'crops.csv',
    columns: 'crop,image_path,class,confidence,x_min,y_min,x_max,y_max\r\n',
    filesOf: (stem, path, boxes) =>
      boxes.map(({ number, box: { class: label, confidence, box } }) => {
        const name = `${classFolder(label)}/${stem}-${number}.jpg`;
        const numbers = [rounded(confidence, 6), ...box.map((side) => rounded(side, 3))].join(',');
        const row = `${exactCell(name)},${exactCell(path)},${exactCell(label)},${numbers}\r\n`;
        return { name, row };
      }),
  },
};

/** The names depend on the images and their order alone. A picture is made when it is asked for. */
export async function* picturePlans(source: PictureSource): AsyncGenerator<PicturePlan, void> {
  const { look, pages, fileName, make } = source;
  const stems = new UniqueStems();
  for await (const page of pages()) {
    for (const entry of page) {
      const path = fileName(entry.image_path);
      const stem = stems.of(stemOf(path));
      if (!isProcessed(entry)) {
        const made = { leftOut: entry.error.detail };
        yield { path, files: [], facts: '', make: () => Promise.resolve(made) };
        continue;
      }
      const { image, file } = entry;
      const boxes = shownBoxes(entry, source);
      const detections = boxes.map(({ box }) => box);
      const files = KINDS[look.kind].filesOf(stem, path, boxes);
      yield {
        path,
        files,
        facts: JSON.stringify([path, image, file, detections, look]),
        // An image without a box to cut out is not read.
        make: async () =>
          files.length === 0 ? { jpegs: [] } : make(entry.image_path, { detections, image, file }),
      };
    }
  }
}

function shownBoxes({ detections }: ProcessedEntry, { isShown }: PictureSource): NumberedBox[] {
  return detections.flatMap((box, at) => (isShown(box) ? [{ number: at + 1, box }] : []));
}

/** The tables of pictures that were made. */
export class PictureTables {
  readonly #rows: string[];
  readonly #leftOut: string[] = [];

  constructor(kind: PictureKind) {
    this.#rows = [KINDS[kind].columns];
  }

  /** Gives the pictures of the files of the plan, or null where it is left out. */
  add({ path, files }: PicturePlan, made: MadePictures): readonly Uint8Array[] | null {
    if ('leftOut' in made) {
      this.#leftOut.push(`${path}: ${made.leftOut}\n`);
      return null;
    }
    for (const { row } of files) this.#rows.push(row);
    return made.jpegs;
  }

  get rows(): readonly string[] {
    return this.#rows;
  }

  /** Empty where no image is left out. */
  get leftOut(): readonly string[] {
    return this.#leftOut;
  }
}

/** One image is decoded at a time, when its pictures are read. */
export function zippedPictures(source: PictureSource): AsyncGenerator<Uint8Array, void> {
  return zipped(filesOfZip(source));
}

async function* filesOfZip(source: PictureSource): AsyncGenerator<ZipFile, void> {
  const { folder, table } = KINDS[source.look.kind];
  const tables = new PictureTables(source.look.kind);
  for await (const plan of picturePlans(source)) {
    const jpegs = tables.add(plan, await plan.make());
    for (const [at, content] of (jpegs ?? []).entries()) {
      yield { name: `${folder}/${plan.files[at]?.name}`, content };
    }
  }
  yield { name: table, content: tables.rows.join('') };
  if (tables.leftOut.length > 0) yield { name: 'left-out.txt', content: tables.leftOut.join('') };
}
