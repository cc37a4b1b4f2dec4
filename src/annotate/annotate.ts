/** Drawn copies: a picture with its boxes, kept beneath the data folder. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { LatticeError } from '../api/errors.js';
import type { Detection } from '../api/schemas/image.js';
import type { Detector } from '../execution/detector.js';
import {
  drawnCopy,
  picturesOf,
  type EncodedPicture,
  type FoundBoxes,
  type PictureLook,
} from './picture-copies.js';

/** The folder of drawn copies beneath the data folder. */
export const ANNOTATED_FOLDER = 'annotated';

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

  /** As `picturesOf`, of the image that is given by its path or its bytes. The pictures are not kept. */
  async pictures(
    image: string | Buffer,
    found: FoundBoxes,
    look: PictureLook,
  ): Promise<readonly Buffer[]> {
    return picturesOf(this.#picture(await this.#bytesOf(image)), found, look);
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
