/** A picture for sharp, by the rules of detection: what detection refuses is refused here as well. */
import type { Sharp } from 'sharp';
import { LatticeError } from '../api/errors.js';
import { pictureType } from './picture-format.js';

/** Upright, without alpha. */
export interface Pixels {
  /** Red, green and blue of each pixel. */
  data: Buffer;
  width: number;
  height: number;
}

/** The decoder of detection. Rejects with the codes of an image. */
export type DecodeImage = (bytes: Buffer) => Promise<Pixels>;

/** Sharp reads no BMP, and gives the samples of a TIFF another range. */
const NOT_FOR_SHARP = ['image/bmp', 'image/tiff'];

/**
 * The result of `make` for the picture. Sharp decodes a sound picture itself, which takes a fraction of the time where
 * the result is small. A picture that sharp warns of is decoded by the decoder of detection.
 */
export async function withPicture<T>(
  bytes: Buffer,
  maxPixels: number,
  decode: DecodeImage,
  make: (picture: Sharp) => Promise<T>,
): Promise<T> {
  // Loaded on first use: it takes a tenth of a second, and most processes never need it.
  const { default: sharp } = await import('sharp');
  if (!NOT_FOR_SHARP.includes(pictureType(bytes) ?? '')) {
    try {
      return await make(sharp(bytes, { limitInputPixels: maxPixels, failOn: 'warning' }));
    } catch (cause) {
      if (cause instanceof LatticeError) throw cause;
    }
  }
  const { data, width, height } = await decode(bytes);
  return make(sharp(data, { raw: { width, height, channels: 3 } }));
}
