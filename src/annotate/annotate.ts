/** Drawn copies: a picture with its boxes, kept beneath the data folder. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pictureType } from '../files/picture-format.js';
import { withPicture, type DecodeImage } from '../files/readable-picture.js';
import { LatticeError } from '../api/errors.js';
import type { Detection, ImageSize } from '../api/schemas/image.js';
import type { Detector } from '../execution/detector.js';
import { boxesSvg, SVG_LOADER } from './boxes-svg.js';

/** The folder of drawn copies beneath the data folder. */
export const ANNOTATED_FOLDER = 'annotated';

const QUALITY = 85;
/** Unguessable: without keys, a client that knows the name can fetch the picture. */
const FILE_NAME = /^[0-9a-f]{32}\.jpg$/;

/** Names that the store is asked for at once. */
const PRUNED_AT_ONCE = 500;

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

  /**
   * `detections` drawn into a JPEG copy of the image, given by its path or its bytes, which is not kept. With `most` no
   * side of the copy is longer. Rejects with the image codes.
   */
  async draw(
    image: string | Buffer,
    detections: readonly Detection[],
    most?: number,
  ): Promise<Buffer> {
    return drawnCopy(this.#picture(await this.#bytesOf(image)), detections, most);
  }

  /**
   * Draws `detections` into a JPEG copy of the image, given by its path or its bytes, and returns the copy's file name.
   * `owner` is the id of a key, whose copies lie in a folder of that name; null without keys. Rejects with the image
   * codes, or `storage_unavailable` when the copy cannot be written.
   */
  async annotate(
    image: string | Buffer,
    detections: readonly Detection[],
    owner: string | null,
  ): Promise<string> {
    const bytes = await this.#bytesOf(image);
    const name = `${randomBytes(16).toString('hex')}.jpg`;
    const target = join(this.#folder, owner ?? '', name);
    await writeDrawnCopy(target, this.#picture(bytes), detections);
    return name;
  }

  async #bytesOf(image: string | Buffer): Promise<Buffer> {
    return typeof image === 'string' ? this.#options.detector.readImage(image) : image;
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
    for (const folder of await this.#folders(owner)) {
      const bytes = await readFile(join(this.#folder, folder, name)).catch(() => null);
      if (bytes !== null) return bytes;
    }
    return null;
  }

  /**
   * Removes copies drawn before `before` (Unix milliseconds), also half-written ones, but for those that `inUse` gives
   * of some names. Returns how many, and the bytes of those that are left.
   */
  async prune(
    before: number,
    inUse: (names: readonly string[]) => Promise<readonly string[]>,
  ): Promise<{ removed: number; bytes: number }> {
    const found = await readdir(this.#folder, { recursive: true }).catch(() => []);
    const paths = found.filter((path) => FILE_NAME.test(basename(path).replace(/\.part$/, '')));
    let removed = 0;
    let bytes = 0;
    for (let at = 0; at < paths.length; at += PRUNED_AT_ONCE) {
      const some = paths.slice(at, at + PRUNED_AT_ONCE);
      const used = new Set(await inUse(some.map((path) => basename(path))));
      for (const path of some) {
        const file = await stat(join(this.#folder, path)).catch(() => null);
        if (file === null) continue;
        if (file.mtimeMs >= before || used.has(basename(path))) bytes += file.size;
        else {
          await rm(join(this.#folder, path), { force: true });
          removed += 1;
        }
      }
    }
    return { removed, bytes };
  }

  /** Removes these copies, of all owners. */
  async remove(names: readonly string[]): Promise<void> {
    for (const folder of await this.#folders(null)) {
      for (const name of names) await rm(join(this.#folder, folder, name), { force: true });
    }
  }

  /** The folders with copies that this owner may read; null: all. */
  async #folders(owner: string | null): Promise<string[]> {
    const others = owner === null ? await readdir(this.#folder).catch(() => []) : [owner];
    return ['', ...others.filter((entry) => !FILE_NAME.test(entry.replace(/\.part$/, '')))];
  }
}

interface EncodedPicture {
  bytes: Buffer;
  decode: DecodeImage;
  maxPixels: number;
}

/** Makes the folder of `target`. Rejects with the image codes, or `storage_unavailable` when it cannot be written. */
async function writeDrawnCopy(
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

/** A JPEG, no side of which is longer than `most` pixels. Rejects with the image codes. */
export async function drawnCopy(
  { bytes, decode, maxPixels }: EncodedPicture,
  detections: readonly Detection[],
  most = Infinity,
): Promise<Buffer> {
  // Give only pictures to libvips, whose loader of SVG is open from here on.
  if (pictureType(bytes) === null) {
    throw new LatticeError('invalid_image', 'The file is not a picture that can be drawn on.');
  }
  try {
    return await withPicture(bytes, maxPixels, decode, async (picture) => {
      const { default: sharp } = await import('sharp');
      sharp.unblock({ operation: [SVG_LOADER] });
      const { autoOrient: whole } = await picture.metadata();
      const scale = Math.min(1, most / Math.max(whole.width, whole.height));
      const size = scaled(whole, scale);
      const upright = picture.autoOrient();
      // The boxes are drawn after this, so that their lines and labels stay readable in a small copy.
      if (scale < 1) upright.resize({ ...size, fit: 'fill' });
      return upright
        .toColourspace('srgb')
        .removeAlpha()
        .composite([{ input: Buffer.from(boxesSvg(size, atScale(detections, scale))) }])
        .jpeg({ quality: QUALITY })
        .toBuffer();
    });
  } catch (cause) {
    if (cause instanceof LatticeError) throw cause;
    throw new LatticeError('invalid_image', 'The image cannot be drawn on.', { cause });
  }
}

function scaled({ width, height }: ImageSize, scale: number): ImageSize {
  const pixels = (side: number) => Math.max(1, Math.round(side * scale));
  return { width: pixels(width), height: pixels(height) };
}

function atScale(detections: readonly Detection[], scale: number): readonly Detection[] {
  if (scale === 1) return detections;
  return detections.map((each) => {
    const [left, top, right, bottom] = each.box;
    return { ...each, box: [left * scale, top * scale, right * scale, bottom * scale] };
  });
}
