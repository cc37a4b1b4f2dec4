/** The photos that every server is sent: common small ones, and a mix of 0.3 to 8 megapixels. */
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import sharp from 'sharp';
import { hasTestdata, SHARED_TESTDATA } from '../../test/support/service-process.js';
import type { LabelledBox } from '../../src/boxes/average-precision.js';
import { readLabels } from '../accuracy/expected.js';
import { makePhotos } from '../gpu/photos.js';

export interface PhotoSet {
  name: 'small' | 'mix';
  what: string;
  /** Relative to the root. */
  photos: string[];
  /** Vehicles by photo, where they are labelled. */
  labels: ReadonlyMap<string, LabelledBox[]> | null;
}

/** By their numbers in COCO. */
export const VEHICLES = new Map([
  [2, 'car'],
  [3, 'motorcycle'],
  [5, 'bus'],
  [7, 'truck'],
]);

const MIX_MEGAPIXELS = { from: 0.25, to: 8.5 };

/** JPEGs of the shared test data, or else made of the bundled pictures in `folder`. */
export async function photoSets(folder: string): Promise<{ root: string; sets: PhotoSet[] }> {
  if (!hasTestdata) return { root: folder, sets: await madeSets(folder) };
  const small = jpegs('coco128/images');
  const mix: string[] = [];
  for (const photo of jpegs('images')) {
    const { width, height } = await sharp(join(SHARED_TESTDATA, photo)).metadata();
    const megapixels = (width * height) / 1e6;
    if (megapixels >= MIX_MEGAPIXELS.from && megapixels <= MIX_MEGAPIXELS.to) mix.push(photo);
  }
  return {
    root: SHARED_TESTDATA,
    sets: [
      {
        name: 'small',
        what: `coco128 (${small.length} photos)`,
        photos: small,
        labels: await vehicleLabels(small),
      },
      { name: 'mix', what: `${mix.length} JPEGs of 0.3 to 8 MP`, photos: mix, labels: null },
    ],
  };
}

function jpegs(folder: string): string[] {
  return readdirSync(join(SHARED_TESTDATA, folder))
    .filter((name) => name.endsWith('.jpg'))
    .sort()
    .map((name) => `${folder}/${name}`);
}

async function vehicleLabels(photos: readonly string[]): Promise<Map<string, LabelledBox[]>> {
  const classes = Array.from({ length: Math.max(...VEHICLES.keys()) + 1 }, (_, id) =>
    VEHICLES.get(id),
  );
  const names = new Set(VEHICLES.values());
  const labels = new Map<string, LabelledBox[]>();
  for (const photo of photos) {
    const { width, height } = await sharp(join(SHARED_TESTDATA, photo)).metadata();
    const boxes = readLabels(basename(photo), { width, height }, classes);
    labels.set(
      photo,
      boxes.filter((label) => names.has(label.class)),
    );
  }
  return labels;
}

async function madeSets(folder: string): Promise<PhotoSet[]> {
  const [small, ...larger] = await makePhotos(folder, Infinity, true);
  const photos = small?.files ?? [];
  const mix = [...photos, ...larger.filter(({ name }) => name !== '12 MP').flatMap((s) => s.files)];
  return [
    { name: 'small', what: 'bundled pictures at 640 x 480', photos, labels: null },
    { name: 'mix', what: 'bundled pictures at 0.3 to 2 MP', photos: mix, labels: null },
  ];
}
