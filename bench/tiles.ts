/**
 * The effect of tiles: average precision of vehicles by the size of their labels, without tiles and with several grids,
 * for the bundled detector and the public n-size model. Prints a table per set.
 *
 *   npm run bench:tiles [-- set ...]
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import type { Detection } from '../src/api/schemas/image.js';
import { tilesText, type Tiles } from '../src/api/tiles.js';
import { BOX_SIZES, sideOf } from '../src/boxes/sizes.js';
import { meanAveragePrecision, type LabelledBox } from '../src/boxes/average-precision.js';
import { detectionsFrom } from '../src/boxes/raw-detections.js';
import type { Box } from '../src/boxes/overlap.js';
import type { NativeModel } from '../src/native/contract.js';
import { openCore, type Core } from '../src/native/core.js';
import { labelsOf, TESTDATA } from './accuracy/expected.js';
import { VEHICLES as VEHICLES_OF_COCO } from './peers/photo-sets.js';

const VEHICLES = fileURLToPath(new URL('../../shared/vehicles', import.meta.url));
const MODELS = fileURLToPath(new URL('../models', import.meta.url));
const OWN = new Map([...VEHICLES_OF_COCO.values()].map((name, id) => [id, name]));
const GRIDS: Tiles[] = [
  'off',
  { columns: 2, rows: 2, overlap: 0.2 },
  { columns: 3, rows: 3, overlap: 0.2 },
  'auto',
];
const CONFIDENCE = 0.01;
const MOSAIC = { columns: 3, rows: 3, width: 640, height: 480 };

interface Photo {
  bytes: Buffer;
  labels: LabelledBox[];
}

const readers: Record<string, () => Promise<Photo[]>> = {
  coco128: () => photosOf(join(TESTDATA, 'coco128'), '', VEHICLES_OF_COCO),
  openimages: () => photosOf(join(VEHICLES, 'vehicles-openimages'), 'valid', OWN),
  highway: () => photosOf(join(VEHICLES, 'highway-cctv'), 'valid', OWN),
  nepal: async () =>
    (await photosOf(join(VEHICLES, 'nepal-vehicles'), 'valid', OWN)).filter((_, i) => i % 4 === 0),
  'coco128, nine to a picture of 1920 x 1440': async () =>
    mosaics(await photosOf(join(TESTDATA, 'coco128'), '', VEHICLES_OF_COCO)),
};

async function photosOf(
  folder: string,
  part: string,
  names: ReadonlyMap<number, string>,
): Promise<Photo[]> {
  const files = readdirSync(join(folder, 'images', part)).sort();
  return Promise.all(
    files.map(async (file) => {
      const bytes = readFileSync(join(folder, 'images', part, file));
      const list = join(folder, 'labels', part, file.replace(/\.\w+$/, '.txt'));
      const labels = labelsOf(list, await sharp(bytes).metadata(), (id) => names.get(id));
      return { bytes, labels };
    }),
  );
}

/** Large pictures with labels: photos side by side, each in its cell of the grid. */
async function mosaics(photos: readonly Photo[]): Promise<Photo[]> {
  const { columns, rows, width, height } = MOSAIC;
  const made: Photo[] = [];
  const each = columns * rows;
  for (let first = 0; first + each <= photos.length; first += each) {
    const labels: LabelledBox[] = [];
    const cells = await Promise.all(
      photos.slice(first, first + each).map(async ({ bytes, labels: own }, index) => {
        const left = (index % columns) * width;
        const top = Math.floor(index / columns) * height;
        const size = await sharp(bytes).metadata();
        const scale = Math.min(width / size.width, height / size.height, 1);
        const move = ([x1, y1, x2, y2]: Box): Box => [
          left + scale * x1,
          top + scale * y1,
          left + scale * x2,
          top + scale * y2,
        ];
        labels.push(...own.map((label) => ({ ...label, box: move(label.box) })));
        const to = {
          width: Math.round(scale * size.width),
          height: Math.round(scale * size.height),
        };
        return {
          input: await sharp(bytes)
            .resize({ ...to, fit: 'fill' })
            .toBuffer(),
          left,
          top,
        };
      }),
    );
    const canvas = { width: columns * width, height: rows * height };
    const picture = sharp({ create: { ...canvas, channels: 3, background: '#727272' } });
    made.push({ bytes: await picture.composite(cells).jpeg({ quality: 95 }).toBuffer(), labels });
  }
  return made;
}

async function found(core: Core, model: NativeModel, photos: readonly Photo[], tiles: Tiles) {
  const wanted = new Set(VEHICLES_OF_COCO.values());
  let images = 0;
  const boxes = await Promise.all(
    photos.map(async ({ bytes }): Promise<Detection[]> => {
      const task = { path: null, bytes, kind: 'async', priority: 0, deadlineMs: 0 } as const;
      const { modelId, names } = model;
      const thresholds = { confidence: CONFIDENCE, iou: 0.7, maxDetections: 300 };
      const run = await core.run({ ...task, modelId, ...thresholds, classIds: null, tiles });
      images += run.tiles === null ? 1 : 1 + run.tiles.columns * run.tiles.rows;
      return detectionsFrom(run.boxes, names).filter((box) => wanted.has(box.class));
    }),
  );
  return { boxes, imagesPerPhoto: images / photos.length };
}

const figure = (value: number | null) => (value === null ? '-' : value.toFixed(3));

function row(
  model: string,
  tiles: Tiles,
  photos: readonly Photo[],
  { boxes, imagesPerPhoto }: Awaited<ReturnType<typeof found>>,
): string {
  const labels = photos.map((photo) => photo.labels);
  const bySize = BOX_SIZES.map(([, least, most]) =>
    meanAveragePrecision(boxes, labels, [0.5], (box) => sideOf(box) >= least && sideOf(box) < most),
  );
  const cars = meanAveragePrecision(
    boxes,
    labels.map((each) => each.filter((label) => label.class === 'car')),
    [0.5],
  );
  const cells = [
    model,
    tilesText(tiles),
    imagesPerPhoto.toFixed(1),
    figure(meanAveragePrecision(boxes, labels, [0.5])),
    figure(meanAveragePrecision(boxes, labels)),
    figure(cars),
    ...bySize.map(figure),
  ];
  return `| ${cells.join(' | ')} |`;
}

const core = openCore({
  roots: [TESTDATA],
  device: 'cpu',
  threads: 2,
  maxFileBytes: 1e9,
  maxPixels: 1e9,
  maxSide: 1e5,
});
const bundled = join(MODELS, 'vehicles-v8n.onnx');
const models: [string, NativeModel][] = [
  [
    'bundled',
    await core.loadModel(bundled, { eightBitPath: bundled.replace('.onnx', '.int8.onnx') }),
  ],
  ['public n', await core.loadModel(join(TESTDATA, 'models', 'yolov8n.onnx'))],
];
const asked = process.argv.slice(2);
for (const [name, read] of Object.entries(readers)) {
  if (asked.length > 0 && !asked.some((each) => name.startsWith(each))) continue;
  const photos = await read();
  const counts = BOX_SIZES.map(([what, least, most]) => {
    const sides = photos.flatMap(({ labels }) => labels.map(({ box }) => box));
    const within = sides.filter((box) => sideOf(box) >= least && sideOf(box) < most);
    return `${within.length} ${what}`;
  });
  console.log(`\n${name}: ${photos.length} pictures, vehicles: ${counts.join(', ')}\n`);
  const heads = ['Model', 'Tiles', 'Images', 'mAP50', 'mAP50-95', 'AP50 cars'];
  console.log(`| ${[...heads, ...BOX_SIZES.map(([what]) => `AP50 ${what}`)].join(' | ')} |`);
  console.log(`|${' --- |'.repeat(heads.length + BOX_SIZES.length)}`);
  for (const [label, model] of models) {
    for (const tiles of GRIDS) {
      console.log(row(label, tiles, photos, await found(core, model, photos, tiles)));
    }
  }
}
await core.close();
