import sharp, { type OutputInfo, type Sharp } from 'sharp';
import { describe, expect, test } from 'vitest';
import { pictureType } from '../../src/files/picture-format.js';
import { Pictures } from '../../src/files/pictures.js';
import { decodeImage } from '../../src/native/core.js';

const RED = { r: 220, g: 20, b: 20 };
const BLUE = { r: 20, g: 20, b: 220 };
const LIMITS = { maxPixels: 1_000_000, maxSide: 2_000 };
const never = new AbortController().signal;

/** 200 x 100: left half red, right half blue. */
function halves(): Sharp {
  const half = { create: { width: 100, height: 100, channels: 3 as const, background: BLUE } };
  return sharp({ create: { width: 200, height: 100, channels: 3, background: RED } }).composite([
    { input: half, left: 100, top: 0 },
  ]);
}

function picturesOf(bytes: Buffer, config = LIMITS): Pictures {
  return new Pictures({
    detector: {
      readImage: () => Promise.resolve(bytes),
      decodeImage: (encoded) => decodeImage(encoded, config),
    },
    config,
  });
}

async function thumbnailOf(bytes: Buffer, width: number, config = LIMITS): Promise<Buffer> {
  const pictures = picturesOf(bytes, config);
  return pictures.thumbnail(await pictures.read('a'), { width }, never);
}

/** Colour of the pixel at that share of the width and height. */
async function pixel(jpeg: Buffer, x: number, y: number): Promise<Record<'r' | 'g' | 'b', number>> {
  const { data, info }: { data: Buffer; info: OutputInfo } = await sharp(jpeg)
    .raw()
    .toBuffer({ resolveWithObject: true });
  const at =
    (Math.floor(y * info.height) * info.width + Math.floor(x * info.width)) * info.channels;
  return { r: data[at]!, g: data[at + 1]!, b: data[at + 2]! };
}

async function expectColours(jpeg: Buffer, points: [number, number, typeof RED][]) {
  for (const [x, y, wanted] of points) {
    const found = await pixel(jpeg, x, y);
    for (const channel of ['r', 'g', 'b'] as const) {
      expect(Math.abs(found[channel] - wanted[channel])).toBeLessThan(25);
    }
  }
}

const ENCODERS = {
  jpeg: (image: Sharp) => image.jpeg(),
  png: (image: Sharp) => image.png(),
  webp: (image: Sharp) => image.webp(),
  tiff: (image: Sharp) => image.tiff(),
  avif: (image: Sharp) => image.avif({ effort: 0 }),
};
const formats = Object.entries(ENCODERS);

test.each(formats)(
  'a %s is known by its bytes and becomes a JPEG of the width',
  async (name, as) => {
    const bytes = await as(halves()).toBuffer();
    expect(await picturesOf(bytes).read('a')).toEqual({ bytes, type: `image/${name}` });
    const jpeg = await thumbnailOf(bytes, 80);
    expect(await sharp(jpeg).metadata()).toMatchObject({ format: 'jpeg', width: 80, height: 40 });
    await expectColours(jpeg, [
      [0.25, 0.5, RED],
      [0.75, 0.5, BLUE],
    ]);
  },
);

/** The picture of `halves`, of 24 bits, as the SDK of a camera writes it. */
async function bmp(): Promise<Buffer> {
  const rgb = await halves().removeAlpha().raw().toBuffer();
  const rows = Array.from({ length: 100 }, (_, y) => rgb.subarray(600 * y, 600 * (y + 1)));
  const bgr = Buffer.concat(rows.reverse());
  for (let i = 0; i < bgr.length; i += 3) bgr.subarray(i, i + 3).reverse();
  const header = Buffer.alloc(54);
  header.write('BM');
  header.writeUInt32LE(54 + bgr.length, 2);
  header.writeUInt32LE(54, 10);
  header.writeUInt32LE(40, 14);
  header.writeInt32LE(200, 18);
  header.writeInt32LE(100, 22);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(24, 28);
  return Buffer.concat([header, bgr]);
}

test('a BMP is known by its bytes and becomes a JPEG of the width', async () => {
  const bytes = await bmp();
  expect(await picturesOf(bytes).read('a')).toEqual({ bytes, type: 'image/bmp' });
  const jpeg = await thumbnailOf(bytes, 80);
  expect(await sharp(jpeg).metadata()).toMatchObject({ format: 'jpeg', width: 80, height: 40 });
  await expectColours(jpeg, [
    [0.25, 0.5, RED],
    [0.75, 0.5, BLUE],
  ]);
});

test.each([
  ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
  ['HTML', '<!doctype html><script>alert(1)</script>'],
  ['GIF', 'GIF89a\x01\0\x01\0'],
  ['text that begins as a BMP', 'BM as the first letters of a text'],
  ['HEIC', '\0\0\0\x18ftypheic\0\0\0\0mif1heic'],
  ['a short RIFF', 'RIFF\0\0\0\0WAVE'],
  ['a cut box', '\0\0\0\x08ftypavif'],
  ['nothing', ''],
])('%s is not shown', async (_name, text) => {
  const bytes = Buffer.from(text, 'latin1');
  expect(pictureType(bytes)).toBeNull();
  await expect(picturesOf(bytes).read('a')).rejects.toMatchObject({
    code: 'unsupported_image_format',
  });
});

describe('a thumbnail', () => {
  test('is turned as EXIF says', async () => {
    const turned = await halves().withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const jpeg = await thumbnailOf(turned, 50);
    expect(await sharp(jpeg).metadata()).toMatchObject({ width: 50, height: 100 });
    await expectColours(jpeg, [
      [0.5, 0.25, RED],
      [0.5, 0.75, BLUE],
    ]);
  });

  test('has no metadata', async () => {
    const told = await halves()
      .withExif({ IFD0: { Copyright: 'someone' }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } })
      .withIccProfile('p3')
      .jpeg()
      .toBuffer();
    expect((await sharp(told).metadata()).exif).toBeDefined();
    const { exif, icc, xmp, orientation } = await sharp(await thumbnailOf(told, 50)).metadata();
    expect([exif, icc, xmp, orientation]).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('is never larger than the image', async () => {
    const jpeg = await thumbnailOf(await halves().png().toBuffer(), 2_048);
    expect(await sharp(jpeg).metadata()).toMatchObject({ width: 200, height: 100 });
  });

  test('of a transparent image lies on white, and 16 bits become 8', async () => {
    const create = {
      width: 64,
      height: 64,
      channels: 4 as const,
      background: { ...RED, alpha: 0 },
    };
    const clear = await sharp({ create }).toColourspace('rgb16').png().toBuffer();
    expect((await sharp(clear).metadata()).depth).toBe('ushort');
    const jpeg = await thumbnailOf(clear, 32);
    expect(await sharp(jpeg).metadata()).toMatchObject({ depth: 'uchar', channels: 3 });
    await expectColours(jpeg, [[0.5, 0.5, { r: 255, g: 255, b: 255 }]]);
  });

  test.each([
    ['pixels', { maxPixels: 19_999, maxSide: 2_000 }],
    ['side', { maxPixels: 1_000_000, maxSide: 199 }],
  ])('of an image beyond the limit of its %s is refused', async (_what, config) => {
    const bytes = await halves().png().toBuffer();
    await expect(thumbnailOf(bytes, 50, config)).rejects.toMatchObject({ code: 'image_too_large' });
  });

  test('of a broken image is refused', async () => {
    const broken = Buffer.concat([Buffer.from('\x89PNG\r\n\x1A\n', 'latin1'), Buffer.alloc(64)]);
    await expect(thumbnailOf(broken, 50)).rejects.toMatchObject({ code: 'invalid_image' });
  });

  test('of a JPEG that breaks off is refused, and of one without its end marker is made', async () => {
    const bytes = await halves().jpeg().toBuffer();
    const cut = Buffer.concat([bytes.subarray(0, -200), Buffer.from([0xff, 0xd9])]);
    await expect(thumbnailOf(cut, 50)).rejects.toMatchObject({
      code: 'invalid_image',
      message: expect.stringMatching(/first \d+ of 100 rows can be read/),
    });
    const jpeg = await thumbnailOf(bytes.subarray(0, -2), 50);
    expect(await sharp(jpeg).metadata()).toMatchObject({ width: 50, height: 25 });
    await expectColours(jpeg, [
      [0.25, 0.5, RED],
      [0.75, 0.5, BLUE],
    ]);
  });

  test('is not made for a client that has gone', async () => {
    const pictures = picturesOf(await halves().png().toBuffer());
    const picture = await pictures.read('a');
    const made = pictures.thumbnail(picture, { width: 50 }, AbortSignal.abort());
    await expect(made).rejects.toMatchObject({ code: 'cancelled' });
  });
});

test('beyond what runs and what may wait, a read is refused at once', async () => {
  const ends: (() => void)[] = [];
  const readImage = () =>
    new Promise<Buffer>((resolve) => {
      ends.push(() => {
        resolve(Buffer.from('none'));
      });
    });
  const pictures = new Pictures({
    detector: { readImage, decodeImage: (encoded) => decodeImage(encoded, LIMITS) },
    config: LIMITS,
  });
  const codes = Array.from({ length: 33 }, () =>
    pictures.read('a').catch((error: unknown) => error as { code: string }),
  );
  expect(await codes[32]).toMatchObject({ code: 'overloaded', retryAfterS: 1 });
  for (let ended = 0; ended < 32; ended += 1) {
    await expect.poll(() => ends.length).toBeGreaterThan(ended);
    ends[ended]!();
  }
  const read = await Promise.all(codes.slice(0, 32));
  expect(read.every((each) => 'code' in each && each.code === 'unsupported_image_format')).toBe(
    true,
  );
});
