/** Drawn copies: a picture with its boxes, kept beneath the data folder. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pictureType } from '../files/picture-format.js';
import { withPicture, type DecodeImage } from '../files/readable-picture.js';
import { LatticeError } from '../api/errors.js';
import type { Detection } from '../api/image.js';
import type { Detector } from '../execution/detector.js';
import { boxesSvg } from './boxes-svg.js';

/** Beneath the data folder. */
export const ANNOTATED_FOLDER = 'annotated';

const QUALITY = 85;
/** The native core closes it with all loaders that detection does not need. The boxes are an SVG made here. */
const SVG_LOADER = 'VipsForeignLoadSvgBuffer';
/** Unguessable: without keys, a client that knows the name can fetch the picture. */
const FILE_NAME = /^[0-9a-f]{32}\.jpg$/;

export interface AnnotatorOptions {
  /** Opens pictures by the same rules as detection. */
  detector: Pick<Detector, 'readImage' | 'decodeImage'>;
  /** Absolute; the copies go to its folder `ANNOTATED_FOLDER`. */
  dataDir: string;
  maxPixels: number;
}

export class Annotator {
  readonly #options: AnnotatorOptions;
  readonly #folder: string;

  constructor(options: AnnotatorOptions) {
    this.#options = options;
    this.#folder = join(options.dataDir, ANNOTATED_FOLDER);
  }

  /** `detections` drawn into a JPEG copy of the image, which is not kept. Rejects with the image codes. */
  async draw(imagePath: string, detections: readonly Detection[]): Promise<Buffer> {
    const { detector } = this.#options;
    return drawnCopy(this.#picture(await detector.readImage(imagePath)), detections);
  }

  /**
   * Draws `detections` into a JPEG copy of the image, given by its path or its bytes, and returns the copy's file name.
   * `owner` is the id of a key, whose copies lie in a folder of that name; null without keys. Rejects with the image codes,
   * or `storage_unavailable` when the copy cannot be written.
   */
  async annotate(
    image: string | Buffer,
    detections: readonly Detection[],
    owner: string | null,
  ): Promise<string> {
    const { detector } = this.#options;
    const bytes = typeof image === 'string' ? await detector.readImage(image) : image;
    const name = `${randomBytes(16).toString('hex')}.jpg`;
    const target = join(this.#folder, owner ?? '', name);
    await writeDrawnCopy(target, this.#picture(bytes), detections);
    return name;
  }

  #picture(bytes: Buffer): EncodedPicture {
    const { detector, maxPixels } = this.#options;
    return { bytes, decode: (encoded) => detector.decodeImage(encoded), maxPixels };
  }

  /**
   * The copy of that file name, or null when there is none for `owner`: copies drawn without a key are for all, and
   * without keys every copy can be read.
   */
  async read(name: string, owner: string | null): Promise<Buffer | null> {
    if (!FILE_NAME.test(name)) return null;
    const others = owner === null ? await readdir(this.#folder).catch(() => []) : [owner];
    for (const folder of ['', ...others.filter((entry) => !FILE_NAME.test(entry))]) {
      const bytes = await readFile(join(this.#folder, folder, name)).catch(() => null);
      if (bytes !== null) return bytes;
    }
    return null;
  }

  /** Removes copies drawn before `before` (Unix milliseconds), also half-written ones. Returns how many. */
  async prune(before: number): Promise<number> {
    const names = await readdir(this.#folder, { recursive: true }).catch(() => []);
    let removed = 0;
    for (const name of names) {
      if (!FILE_NAME.test(basename(name).replace(/\.part$/, ''))) continue;
      const path = join(this.#folder, name);
      const modified = await stat(path).then(
        (entry) => entry.mtimeMs,
        () => Infinity,
      );
      if (modified >= before) continue;
      await rm(path, { force: true });
      removed += 1;
    }
    return removed;
  }
}

export interface EncodedPicture {
  bytes: Buffer;
  decode: DecodeImage;
  maxPixels: number;
}

/** Makes the folder of `target`. Rejects with the image codes, or `storage_unavailable` when it cannot be written. */
export async function writeDrawnCopy(
  target: string,
  picture: EncodedPicture,
  detections: readonly Detection[],
): Promise<void> {
  const jpeg = await drawnCopy(picture, detections);
  try {
    await mkdir(dirname(target), { recursive: true });
    await writeFile(`${target}.part`, jpeg);
    await rename(`${target}.part`, target);
  } catch (cause) {
    await rm(`${target}.part`, { force: true }).catch(() => undefined);
    throw new LatticeError('storage_unavailable', 'The drawn copy cannot be written.', { cause });
  }
}

async function drawnCopy(
  { bytes, decode, maxPixels }: EncodedPicture,
  detections: readonly Detection[],
): Promise<Buffer> {
  // Nothing but pictures is given to libvips, whose loader of SVG is open from here on.
  if (pictureType(bytes) === null) {
    throw new LatticeError('invalid_image', 'The file is not a picture that can be drawn on.');
  }
  try {
    return await withPicture(bytes, maxPixels, decode, async (picture) => {
      const { default: sharp } = await import('sharp');
      sharp.unblock({ operation: [SVG_LOADER] });
      const { autoOrient: size } = await picture.metadata();
      return picture
        .autoOrient()
        .toColourspace('srgb')
        .removeAlpha()
        .composite([{ input: Buffer.from(boxesSvg(size, detections)) }])
        .jpeg({ quality: QUALITY })
        .toBuffer();
    });
  } catch (cause) {
    if (cause instanceof LatticeError) throw cause;
    throw new LatticeError('invalid_image', 'The image cannot be drawn on.', { cause });
  }
}
