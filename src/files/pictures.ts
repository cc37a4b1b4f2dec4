/** Pictures beneath the image roots, whole or as thumbnails; bounded in number at a time. */
import pLimit, { type LimitFunction } from 'p-limit';
import type { Sharp } from 'sharp';
import type { Config } from '../settings/config.js';
import { LatticeError } from '../api/errors.js';
import { tooManyAtOnce } from './folders.js';
import { PICTURE_FORMAT_NAMES, pictureType } from './picture-format.js';
import { withPicture, type DecodeImage } from './readable-picture.js';

export const THUMBNAIL_TYPE = 'image/jpeg';
const QUALITY = 80;
/** A long and narrow picture keeps the requested width, but its height is bounded. */
const MOST_HEIGHT = 8_192;
const RESIZE_SECONDS = 10;

const READS_AT_A_TIME = 8;
/** Pictures are resized one at a time, because libuv's threads are for files. Most thumbnails take some 10 ms. */
const RESIZES_AT_A_TIME = 1;
const MOST_WAITING = 24;

export interface Picture {
  bytes: Buffer;
  /** Media type, found in the bytes. */
  type: string;
}

/** `x1, y1, x2, y2` in pixels of the upright picture. */
export type CropArea = readonly [number, number, number, number];

interface ThumbnailOptions {
  width: number;
  crop?: CropArea | undefined;
}

export interface PicturesOptions {
  detector: { readImage(path: string): Promise<Buffer>; decodeImage: DecodeImage };
  config: Pick<Config, 'maxPixels' | 'maxSide'>;
}

export class Pictures {
  readonly #options: PicturesOptions;
  readonly #reads = pLimit(READS_AT_A_TIME);
  readonly #resizes = pLimit(RESIZES_AT_A_TIME);

  constructor(options: PicturesOptions) {
    this.#options = options;
  }

  /** Opens the picture by the rules of detection and rejects with the same errors, or with `overloaded`. */
  async read(
    path: string,
    readImage = () => this.#options.detector.readImage(path),
  ): Promise<Picture> {
    const bytes = await inTurn(this.#reads, readImage);
    const type = pictureType(bytes);
    if (type !== null) return { bytes, type };
    const detail = `The file is none of ${PICTURE_FORMAT_NAMES}.`;
    throw new LatticeError('unsupported_image_format', detail);
  }

  /**
   * A JPEG of the picture or a part of it, at most so wide, upright, without metadata; a smaller picture keeps its
   * size. Rejects as detection does for a picture that it cannot read, with `overloaded`, or with `cancelled` where
   * `signal` is aborted before its turn.
   */
  thumbnail(
    { bytes }: Picture,
    { width, crop }: ThumbnailOptions,
    signal: AbortSignal,
  ): Promise<Buffer> {
    return inTurn(this.#resizes, async () => {
      if (signal.aborted) throw new LatticeError('cancelled', 'The client has gone away.');
      const { detector, config } = this.#options;
      const small = async (picture: Sharp) => {
        const size = await picture.metadata();
        if (Math.max(size.width, size.height) > config.maxSide) throw tooLarge();
        const upright = picture.autoOrient();
        const part = crop === undefined ? upright : upright.extract(within(crop, size.autoOrient));
        return part
          .resize({ width, height: MOST_HEIGHT, fit: 'inside', withoutEnlargement: true })
          .flatten({ background: 'white' })
          .toColourspace('srgb')
          .jpeg({ quality: QUALITY })
          .timeout({ seconds: RESIZE_SECONDS })
          .toBuffer();
      };
      try {
        return await withPicture(
          bytes,
          config.maxPixels,
          (image) => detector.decodeImage(image),
          small,
        );
      } catch (cause) {
        if (cause instanceof LatticeError) throw cause;
        throw new LatticeError('invalid_image', 'The picture cannot be decoded.', { cause });
      }
    });
  }
}

/** The area within the picture, of at least one pixel. */
function within([x1, y1, x2, y2]: CropArea, size: { width: number; height: number }) {
  const left = Math.min(x1, size.width - 1);
  const top = Math.min(y1, size.height - 1);
  const width = Math.max(1, Math.min(x2, size.width) - left);
  const height = Math.max(1, Math.min(y2, size.height) - top);
  return { left, top, width, height };
}

/** Rejects with `overloaded` where too many wait already. */
async function inTurn<T>(limit: LimitFunction, work: () => Promise<T>): Promise<T> {
  if (limit.pendingCount >= MOST_WAITING) throw tooManyAtOnce();
  return limit(work);
}

function tooLarge(): LatticeError {
  return new LatticeError(
    'image_too_large',
    'The picture has more pixels than this service reads.',
  );
}
