/** Photos for the tests, with the boxes that people drew on them where there are any. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import sharp from 'sharp';
import type { Detection, ImageSize } from '../../src/api/schemas/image.js';
import { PROJECT_ROOT, SHARED_TESTDATA, hasTestdata } from '../support/service-process.js';

export interface Photo {
  name: string;
  size: ImageSize;
  detections: Detection[];
}

interface FoundPhoto {
  file: string;
  photo: Photo;
}

/** Numbers of COCO. */
const COCO_NAMES = new Map([
  [0, 'person'],
  [1, 'bicycle'],
  [2, 'car'],
  [3, 'motorcycle'],
  [5, 'bus'],
  [7, 'truck'],
]);
/** Numbers of the bundled detector and of the rendered streets. */
const OWN_NAMES = new Map(['car', 'motorcycle', 'bus', 'truck'].entries());
const TESTDATA = { folder: join(SHARED_TESTDATA, 'coco128/images'), names: COCO_NAMES };
const DEMO = { folder: join(PROJECT_ROOT, 'models/demo'), names: OWN_NAMES };
/**
 * Screenshots are published, which the photos of the test data may not be: they show rendered streets
 * (models/train/render.py).
 */
const RENDERED = { folder: process.env.UI_SCREENSHOT_PHOTOS ?? DEMO.folder, names: OWN_NAMES };
const unpublished = hasTestdata ? TESTDATA : DEMO;
const { folder: FOLDER, names: NAMES } =
  process.env.UI_SCREENSHOTS === undefined ? unpublished : RENDERED;
const VEHICLES = new Set(['car', 'motorcycle', 'bus', 'truck']);

/** Copies at most so many photos into the folder, those with the most vehicles first. */
export async function copyPhotos(folder: string, most: number): Promise<Photo[]> {
  mkdirSync(folder, { recursive: true });
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.jpg'),
  );
  const photos = await Promise.all(files.map((file) => photoOf(join(FOLDER, file))));
  const vehicles = ({ detections }: Photo) =>
    detections.filter((each) => VEHICLES.has(each.class)).length;
  photos.sort((a, b) => vehicles(b.photo) - vehicles(a.photo));
  const chosen = hasTestdata ? photos.slice(0, most) : repeated(photos, most);
  for (const { file, photo } of chosen) copyFileSync(file, join(folder, photo.name));
  return chosen.map(({ photo }) => photo);
}

/** The bundled photos are few: the same ones again under other names, each with other classes and confidences. */
function repeated(photos: readonly FoundPhoto[], most: number): FoundPhoto[] {
  return Array.from({ length: most }, (_, at) => {
    const found = photos[at % photos.length];
    if (found === undefined) throw new Error(`There is no photo in ${FOLDER}.`);
    const { name, size, detections } = found.photo;
    const varied = detections.map((each, index): Detection => {
      const step = index + at;
      const vehicle = OWN_NAMES.get(step % OWN_NAMES.size) ?? each.class;
      return { ...each, class: vehicle, confidence: 0.96 - 0.07 * ((3 * step) % 10) };
    });
    return { file: found.file, photo: { name: `${at}-${name}`, size, detections: varied } };
  });
}

async function photoOf(file: string): Promise<FoundPhoto> {
  const { width, height } = await sharp(file).metadata();
  const size = { width, height };
  return { file, photo: { name: basename(file), size, detections: detectionsOf(file, size) } };
}

const confidenceAt = (index: number) => Math.max(0.26, 0.96 - 0.04 * index);

/** The boxes in the JSON file beside a bundled photo; else those of its label, or one car. */
function detectionsOf(file: string, size: ImageSize): Detection[] {
  const bundled = file.replace(/\.jpg$/, '.json');
  if (!existsSync(bundled)) return labelledIn(file, size);
  const { boxes } = JSON.parse(readFileSync(bundled, 'utf8')) as {
    boxes: Pick<Detection, 'class' | 'box'>[];
  };
  return boxes.map((each, index) => ({ ...each, confidence: confidenceAt(index) }));
}

/** A label: number of the class, then centre and size of the box as shares of the photo. */
function labelledIn(file: string, { width, height }: ImageSize): Detection[] {
  const labels = file.replace('/images/', '/labels/').replace(/\.jpg$/, '.txt');
  if (!existsSync(labels)) {
    return [{ class: 'car', confidence: 0.9, box: [10, 10, width / 2, height / 2] }];
  }
  return readFileSync(labels, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number))
    .flatMap(([number = -1, x = 0, y = 0, w = 0, h = 0], index): Detection[] => {
      const name = NAMES.get(number);
      if (name === undefined) return [];
      const box: Detection['box'] = [
        (x - w / 2) * width,
        (y - h / 2) * height,
        (x + w / 2) * width,
        (y + h / 2) * height,
      ];
      return [{ class: name, confidence: confidenceAt(index), box }];
    });
}
