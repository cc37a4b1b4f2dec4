/** JPEGs of the sizes of the benchmark, made from real photos. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { PROJECT_ROOT, SHARED_TESTDATA } from '../../test/support/service-process.js';

export interface PhotoSize {
  /** "0.3 MP". */
  name: string;
  width: number;
  height: number;
  /** Relative to the plan's photo root. */
  files: string[];
  meanBytes: number;
  /** Whether a source was smaller: an enlarged photo has fewer bytes a pixel than a real one. */
  enlarged: boolean;
}

const SIZES = [
  { name: '0.3 MP', width: 640, height: 480 },
  { name: '0.9 MP', width: 1280, height: 720 },
  { name: '2 MP', width: 1920, height: 1080 },
  { name: '12 MP', width: 4000, height: 3000 },
];

const LARGE_PHOTOS = [
  'runners-5293x3529-progressive.jpg',
  'mug-3361x2521.jpg',
  'uhdr-3840x2160.jpg',
  'workshop-2725x2225.jpg',
].map((name) => join(SHARED_TESTDATA, 'images', name));
const BUNDLED_PHOTOS = ['street.jpg', 'crossing.jpg'].map((name) =>
  join(PROJECT_ROOT, 'models/demo', name),
);

/** RGB, 8 bit, as a task takes it. */
export interface Pixels {
  data: Uint8Array;
  width: number;
  height: number;
}

/** One decoder for all sides of a comparison. */
export async function decodedPhoto(file: string): Promise<Pixels> {
  const { data, info } = await sharp(file)
    .rotate()
    .toColourspace('srgb')
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

/** Baseline JPEGs, 4:2:0, quality 90, at most `count` of each size, in `folder`; `quickly` from small ones. */
export async function makePhotos(
  folder: string,
  count: number,
  quickly: boolean,
): Promise<PhotoSize[]> {
  const large = quickly ? [] : LARGE_PHOTOS.filter((file) => existsSync(file));
  const sources = (large.length > 0 ? large : BUNDLED_PHOTOS).slice(0, count);
  const sizes: PhotoSize[] = [];
  for (const { name, width, height } of SIZES) {
    const size: PhotoSize = { name, width, height, files: [], meanBytes: 0, enlarged: false };
    for (const [index, source] of sources.entries()) {
      const from = await sharp(source).metadata();
      size.enlarged ||= from.width < width || from.height < height;
      const file = `${width}x${height}-${index}.jpg`;
      const { size: bytes } = await sharp(source)
        .resize(width, height, { fit: 'cover' })
        .jpeg({ quality: 90, chromaSubsampling: '4:2:0', progressive: false })
        .toFile(join(folder, file));
      size.files.push(file);
      size.meanBytes += bytes / sources.length;
    }
    sizes.push(size);
  }
  return sizes;
}
