/** The photos that every server is sent: common small ones, and a mix of 0.3 to 8 megapixels. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { hasTestdata, SHARED_TESTDATA } from '../../test/support/service-process.js';
import { makePhotos } from '../gpu/photos.js';

export interface PhotoSet {
  name: 'small' | 'mix';
  what: string;
  /** Relative to the root. */
  photos: string[];
}

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
      { name: 'small', what: `coco128 (${small.length} photos)`, photos: small },
      { name: 'mix', what: `${mix.length} JPEGs of 0.3 to 8 MP`, photos: mix },
    ],
  };
}

function jpegs(folder: string): string[] {
  return readdirSync(join(SHARED_TESTDATA, folder))
    .filter((name) => name.endsWith('.jpg'))
    .sort()
    .map((name) => `${folder}/${name}`);
}

async function madeSets(folder: string): Promise<PhotoSet[]> {
  const [small, ...larger] = await makePhotos(folder, Infinity, true);
  const photos = small?.files ?? [];
  const mix = [...photos, ...larger.filter(({ name }) => name !== '12 MP').flatMap((s) => s.files)];
  return [
    { name: 'small', what: 'bundled pictures at 640 x 480', photos },
    { name: 'mix', what: 'bundled pictures at 0.3 to 2 MP', photos: mix },
  ];
}
