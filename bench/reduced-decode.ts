/**
 * `node --import tsx bench/reduced-decode.ts [kept ...]`: what `LATTICE_FAST_DECODE` costs in accuracy. Boxes of large
 * JPEGs decoded in full against those decoded at a reduced scale, in this process, in f32, for each number of pixels
 * kept (1, 2, 3, 4). Photos are those of the shared test data that are large by themselves, mosaics of small ones, and
 * small ones enlarged. Exits non-zero where reduced photos miss the gate of `npm run parity`.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import sharp from 'sharp';
import { loadConfig } from '../src/config.js';
import type { Detection } from '../src/contract/image-result.js';
import type { NativeWorker } from '../src/execution/native-worker.js';
import { openDetector } from '../src/execution/open-detector.js';
import { PROJECT_ROOT } from '../test/support/service-process.js';
import { TESTDATA } from './accuracy/expected.js';
import { compare } from './accuracy/match.js';
import {
  COCO_OVERLAPS,
  meanAveragePrecision,
  type LabelledBox,
} from './accuracy/mean-average-precision.js';

const GATE = { overlap: 0.9, share: 0.995, scoreGap: 0.01, map: 0.002 };
const FLOOR = 0.3;
const LOWEST = 0.25;
const LABEL_CONFIDENCE = 0.01;
const LEAST_LARGE = 1280;
const VEHICLES = join(TESTDATA, '../vehicles');
const VEHICLE_CLASSES = ['car', 'motorcycle', 'bus', 'truck'];
const MOST_ENLARGED = 20;
const NETWORK_SIDE = 640;

interface Photo {
  path: string;
  /** The longer one. */
  side: number;
  /** Null where nobody labelled it. */
  labels: LabelledBox[] | null;
}

interface PhotoGroup {
  name: string;
  model: string;
  modelsDir: string;
  photos: Photo[];
}

/** Class id and box in shares of the sides, from the label file beside a photo's folder. */
function labelsOf(photo: string): { id: number; box: [number, number, number, number] }[] {
  const file = photo.replace('/images/', '/labels/').replace(/\.\w+$/, '.txt');
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [id = NaN, x = NaN, y = NaN, w = NaN, h = NaN] = line.split(/\s+/).map(Number);
      return { id, box: [x - w / 2, y - h / 2, x + w / 2, y + h / 2] };
    });
}

const filesIn = (folder: string) =>
  readdirSync(folder)
    .filter((file) => /\.jpe?g$/i.test(file))
    .sort()
    .map((file) => join(folder, file));

async function largePhotos(): Promise<Photo[]> {
  const photos: Photo[] = [];
  for (const path of filesIn(join(TESTDATA, 'images'))) {
    const { width, height } = await sharp(path).metadata();
    if (Math.max(width, height) >= LEAST_LARGE)
      photos.push({ path, side: Math.max(width, height), labels: null });
  }
  return photos;
}

/** `across` x `across` photos of coco128 in one, each at its own size on a 640-pixel tile: as sharp as a camera's. */
async function mosaics(folder: string, across: number, classes: string[]): Promise<Photo[]> {
  const side = NETWORK_SIDE;
  const small = filesIn(join(TESTDATA, 'coco128/images'));
  const photos: Photo[] = [];
  for (let first = 0; first + across * across <= small.length; first += across * across) {
    const labels: LabelledBox[] = [];
    const tiles = await Promise.all(
      small.slice(first, first + across * across).map(async (input, index) => {
        const { width, height } = await sharp(input).metadata();
        const left = (index % across) * side;
        const top = Math.floor(index / across) * side;
        for (const { id, box } of labelsOf(input)) {
          const [x1, y1, x2, y2] = box;
          labels.push({
            class: classes[id] ?? '',
            box: [left + x1 * width, top + y1 * height, left + x2 * width, top + y2 * height],
          });
        }
        return { input, left, top };
      }),
    );
    const path = join(folder, `mosaic${across}-${first}.jpg`);
    const background = { r: 114, g: 114, b: 114 };
    await sharp({
      create: { width: side * across, height: side * across, channels: 3, background },
    })
      .composite(tiles)
      .jpeg({ quality: 92 })
      .toFile(path);
    photos.push({ path, side: side * across, labels });
  }
  return photos;
}

/** Photos of vehicles, `times` their size. */
async function enlarged(folder: string, times: number): Promise<Photo[]> {
  const sets = ['nepal-vehicles', 'highway-cctv', 'vehicles-openimages'];
  const photos: Photo[] = [];
  for (const set of sets.filter((name) => existsSync(join(VEHICLES, name)))) {
    const files = filesIn(join(VEHICLES, set, 'images/valid'));
    for (const file of files.slice(0, MOST_ENLARGED)) {
      const { width, height } = await sharp(file).metadata();
      const path = join(folder, `enlarged${times}-${set}-${photos.length}.jpg`);
      await sharp(file)
        .resize(width * times, height * times)
        .jpeg({ quality: 92 })
        .toFile(path);
      const labels = labelsOf(file).map(({ id, box: [x1, y1, x2, y2] }): LabelledBox => {
        const [across, down] = [times * width, times * height];
        return {
          class: VEHICLE_CLASSES[id] ?? '',
          box: [across * x1, down * y1, across * x2, down * y2],
        };
      });
      photos.push({ path, side: times * Math.max(width, height), labels });
    }
  }
  return photos;
}

async function open(folder: string, modelsDir: string, kept: number): Promise<NativeWorker> {
  const dataDir = join(folder, `data-${kept}`);
  mkdirSync(dataDir, { recursive: true });
  const config = loadConfig(
    { dataDir },
    {
      LATTICE_MODELS_DIR: modelsDir,
      LATTICE_IMAGE_ROOTS: [join(TESTDATA, 'images'), folder].join(delimiter),
      LATTICE_DEVICE: 'cpu',
      LATTICE_PRECISION: 'f32',
      LATTICE_FAST_DECODE: String(kept),
    },
  );
  const quiet = () => undefined;
  const logger = { debug: quiet, info: quiet, warn: console.warn, error: console.error };
  return openDetector(config, logger);
}

async function classNames(folder: string, group: { model: string; modelsDir: string }) {
  const source = await open(folder, group.modelsDir, 0);
  const { classes } = await source.prepare(group.model);
  await source.close();
  return classes;
}

async function see(folder: string, group: PhotoGroup, kept: number): Promise<Detection[][]> {
  const source = await open(folder, group.modelsDir, kept);
  const boxes: Detection[][] = [];
  const options = {
    modelName: group.model,
    confidence: LABEL_CONFIDENCE,
    iou: 0.7,
    maxDetections: 300,
    classes: null,
  };
  for (const { path } of group.photos) {
    const found = await source.detect({ path, options, class: 'sync' });
    boxes.push(found.detections);
  }
  await source.close();
  return boxes;
}

const sure = (boxes: Detection[]) => boxes.filter(({ confidence }) => confidence > LOWEST);

function mapOf(group: PhotoGroup, boxes: Detection[][]): number {
  const labelled = group.photos.flatMap(({ labels }, index) =>
    labels === null ? [] : [{ labels, found: boxes[index] ?? [] }],
  );
  return labelled.length === 0 ? NaN : meanAveragePrecision(labelled, COCO_OVERLAPS);
}

function row(group: PhotoGroup, kept: number, full: Detection[][], reduced: Detection[][]) {
  const pairs = group.photos.map(({ path }, index) => ({
    photo: path,
    expected: sure(full[index] ?? []),
    found: sure(reduced[index] ?? []),
  }));
  const count = group.photos.filter(({ side }) => side >= 2 * kept * NETWORK_SIDE).length;
  const strict = compare(pairs, GATE.overlap, FLOOR);
  const loose = compare(pairs, 0.5, FLOOR);
  const [mapFull, mapReduced] = [mapOf(group, full), mapOf(group, reduced)];
  const met =
    strict.recall >= GATE.share &&
    strict.precision >= GATE.share &&
    strict.confidenceGap <= GATE.scoreGap &&
    !(Math.abs(mapReduced - mapFull) > GATE.map);
  return {
    photos: group.name,
    files: group.photos.length,
    'of them reduced': count,
    kept,
    boxes: strict.expected,
    'recall 0.9': strict.recall.toFixed(4),
    'precision 0.9': strict.precision.toFixed(4),
    'score gap': strict.confidenceGap.toFixed(3),
    'recall 0.5': loose.recall.toFixed(4),
    'precision 0.5': loose.precision.toFixed(4),
    'mAP50-95 full': mapFull.toFixed(4),
    reduced: mapReduced.toFixed(4),
    gate: count === 0 ? 'nothing reduced' : met ? 'met' : 'MISSED',
  };
}

async function main(kept: number[]): Promise<number> {
  if (!existsSync(TESTDATA)) {
    console.error('../shared/testdata is absent: there is nothing to compare.');
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), 'lattice-reduced-'));
  try {
    const coco = { model: 'yolov8n.pt', modelsDir: join(TESTDATA, 'models') };
    const bundled = { model: 'vehicles-v8n.pt', modelsDir: join(PROJECT_ROOT, 'models') };
    const names = await classNames(folder, coco);
    const large = await largePhotos();
    const groups: PhotoGroup[] = [
      { name: 'large', ...coco, photos: large },
      { name: 'large, vehicles-v8n', ...bundled, photos: large },
      { name: 'mosaics 1280', ...coco, photos: await mosaics(folder, 2, names) },
      { name: 'mosaics 2560', ...coco, photos: await mosaics(folder, 4, names) },
      { name: 'mosaics 3840', ...coco, photos: await mosaics(folder, 6, names) },
      { name: 'mosaics 5120', ...coco, photos: await mosaics(folder, 8, names) },
      { name: 'enlarged 4, vehicles-v8n', ...bundled, photos: await enlarged(folder, 4) },
      { name: 'enlarged 8, vehicles-v8n', ...bundled, photos: await enlarged(folder, 8) },
    ];
    const rows = [];
    for (const group of groups.filter(({ photos }) => photos.length > 0)) {
      const full = await see(folder, group, 0);
      for (const each of kept) rows.push(row(group, each, full, await see(folder, group, each)));
    }
    console.table(rows);
    return rows.some(({ gate }) => gate === 'MISSED') ? 1 : 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const asked = process.argv.slice(2).map(Number);
process.exitCode = await main(asked.length > 0 ? asked : [1, 2, 3, 4]);
