/** Pictures that are made of an image and its boxes: the boxes drawn, covered, or cut out. All are new JPEG files. */
import type { Sharp } from 'sharp';
import { LatticeError } from '../api/errors.js';
import type { CoverWay } from '../api/job-values.js';
import type { Detection, ImageSize } from '../api/schemas/image.js';
import { pictureType } from '../files/picture-format.js';
import { withPicture, type DecodeImage, type Pixels } from '../files/readable-picture.js';
import { boxesSvg, SVG_LOADER } from './boxes-svg.js';
import { coverBoxes, pixelBox } from './cover.js';

const QUALITY = 85;

export interface EncodedPicture {
  bytes: Buffer;
  decode: DecodeImage;
  maxPixels: number;
}

export interface FoundBoxes {
  detections: readonly Detection[];
  /** The upright picture in which they were found, and the bytes of its file: crops and covers refuse another one. */
  image?: ImageSize | undefined;
  file?: { size: number } | undefined;
}

/** `margin`: share of a box's width and height around it. */
export type PictureLook =
  /** No side is longer than `most` pixels. */
  | { kind: 'drawn'; most?: number }
  | { kind: 'covered'; how: CoverWay; margin: number }
  /** A picture for each box. */
  | { kind: 'crops'; margin: number };

/** One picture, or one for each box. The image is decoded once. Rejects with the image codes. */
export async function picturesOf(
  picture: EncodedPicture,
  found: FoundBoxes,
  look: PictureLook,
): Promise<readonly Buffer[]> {
  if (look.kind === 'drawn') return [await drawnCopy(picture, found.detections, look.most)];
  const pixels = await uprightPixels(picture, found);
  const boxes = found.detections.map(({ box }) => box);
  if (look.kind === 'covered') {
    await coverBoxes(pixels, boxes, look.how, look.margin);
    return [await jpegOf(await sharpOf(pixels))];
  }
  const crops: Buffer[] = [];
  for (const box of boxes) {
    const { left, top, right, bottom } = pixelBox(box, look.margin, pixels);
    const area = { left, top, width: right - left, height: bottom - top };
    crops.push(await jpegOf((await sharpOf(pixels)).extract(area)));
  }
  return crops;
}

/** A JPEG, no side of which is longer than `most` pixels. Rejects with the image codes. */
export function drawnCopy(
  encoded: EncodedPicture,
  detections: readonly Detection[],
  most = Infinity,
): Promise<Buffer> {
  return opened(encoded, async (picture) => {
    const { default: sharp } = await import('sharp');
    sharp.unblock({ operation: [SVG_LOADER] });
    const { autoOrient: whole } = await picture.metadata();
    const scale = Math.min(1, most / Math.max(whole.width, whole.height));
    const size = scaled(whole, scale);
    const upright = picture.autoOrient();
    // The boxes are drawn after this, so that their lines and labels stay readable in a small copy.
    if (scale < 1) upright.resize({ ...size, fit: 'fill' });
    const boxes = Buffer.from(boxesSvg(size, atScale(detections, scale)));
    return jpegOf(inColour(upright).composite([{ input: boxes }]));
  });
}

/** Rejects with `input_changed` for a picture that is not the one in which the boxes were found. */
async function uprightPixels(
  encoded: EncodedPicture,
  { image, file }: FoundBoxes,
): Promise<Pixels> {
  if (file !== undefined && file.size !== encoded.bytes.length) throw otherPicture();
  const pixels = await opened(encoded, async (picture) => {
    const raw = inColour(picture.autoOrient()).raw({ depth: 'uchar' });
    const { data, info } = await raw.toBuffer({ resolveWithObject: true });
    if (info.channels !== 3) throw new Error(`${info.channels} channels`);
    return { data, width: info.width, height: info.height };
  });
  const isOther = image && (image.width !== pixels.width || image.height !== pixels.height);
  if (isOther === true) throw otherPicture();
  return pixels;
}

function otherPicture(): LatticeError {
  return new LatticeError('input_changed', 'The image has changed since its boxes were found.');
}

/** The result of `make`. Rejects with the image codes. */
async function opened<T>(
  { bytes, decode, maxPixels }: EncodedPicture,
  make: (picture: Sharp) => Promise<T>,
): Promise<T> {
  // Give only pictures to libvips, whose loader of SVG is open once something was drawn.
  if (pictureType(bytes) === null) {
    throw new LatticeError('invalid_image', 'The file is not a picture that can be copied.');
  }
  try {
    return await withPicture(bytes, maxPixels, decode, make);
  } catch (cause) {
    if (cause instanceof LatticeError) throw cause;
    throw new LatticeError('invalid_image', 'The image cannot be copied.', { cause });
  }
}

const inColour = (picture: Sharp): Sharp => picture.toColourspace('srgb').removeAlpha();

/** Nothing of the file but its pixels is taken over: no EXIF, no thumbnail, no profile. */
const jpegOf = (picture: Sharp): Promise<Buffer> => picture.jpeg({ quality: QUALITY }).toBuffer();

async function sharpOf({ data, width, height }: Pixels): Promise<Sharp> {
  const { default: sharp } = await import('sharp');
  return sharp(data, { raw: { width, height, channels: 3 } });
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
