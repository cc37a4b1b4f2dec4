/** Pictures with covered boxes, compared bit by bit with those of pictures whose boxes had another content before. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { coverBoxes } from '../../src/annotate/cover.js';
import { picturesOf, type PictureLook } from '../../src/annotate/picture-copies.js';
import { COVER_WAYS, type CoverWay } from '../../src/api/job-values.js';
import type { Detection } from '../../src/api/schemas/image.js';
import type { Pixels } from '../../src/files/readable-picture.js';
import { decodeImage } from '../../src/native/core.js';
import { hasTestdata, SHARED_TESTDATA } from '../support/service-process.js';

type Box = Detection['box'];

const LIMITS = { maxPixels: 100_000_000, maxSide: 16_384 };

/** The same numbers in each run. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const random = chance(7);
function noise(width: number, height: number): Pixels {
  const data = Buffer.alloc(3 * width * height);
  for (let at = 0; at < data.length; at += 1) data[at] = 256 * random();
  return { data, width, height };
}

const copy = (pixels: Pixels): Pixels => ({ ...pixels, data: Buffer.from(pixels.data) });
const covered = (how: CoverWay, margin = 0): PictureLook => ({ kind: 'covered', how, margin });

function imageOf({ data, width, height }: Pixels) {
  return sharp(data, { raw: { width, height, channels: 3 } });
}

const png = (pixels: Pixels) => imageOf(pixels).png({ compressionLevel: 1 }).toBuffer();

function pictures(bytes: Buffer, boxes: readonly Box[], look: PictureLook, found = {}) {
  const detections = boxes.map((box) => ({ class: 'car', confidence: 0.9, box }));
  const picture = {
    bytes,
    decode: (encoded: Buffer) => decodeImage(encoded, LIMITS),
    maxPixels: LIMITS.maxPixels,
  };
  return picturesOf(picture, { detections, ...found }, look);
}

async function pixelsOf(bytes: Buffer): Promise<Pixels> {
  const { data, info } = await sharp(bytes)
    .autoOrient()
    .toColourspace('srgb')
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

const colourAt = ({ data, width }: Pixels, x: number, y: number) =>
  [...data.subarray(3 * (y * width + x), 3 * (y * width + x) + 3)] as const;

/** Exchanges pixels within each square of `side` pixels at the whole multiples of it that lie in a box. */
function shuffled(pixels: Pixels, boxes: readonly Box[], side: number): Pixels {
  const other = copy(pixels);
  const cells = new Set<string>();
  for (const [left, top, right, bottom] of boxes) {
    for (let y = top; y < bottom; y += side) {
      for (let x = left; x < right; x += side) cells.add(`${x} ${y}`);
    }
  }
  for (const cell of cells) {
    const [left = 0, top = 0] = cell.split(' ').map(Number);
    const colours = Array.from({ length: side * side }, (_, at) =>
      colourAt(pixels, left + (at % side), top + Math.floor(at / side)),
    );
    colours.reverse().forEach((colour, at) => {
      const [x, y] = [left + (at % side), top + Math.floor(at / side)];
      other.data.set(colour, 3 * (y * pixels.width + x));
    });
  }
  return other;
}

describe('covered boxes', () => {
  // Blocks of 20 pixels; the second box overlaps the first, the third one ends at two borders.
  const boxes: Box[] = [[20, 20, 180, 180], [100, 60, 260, 220], [240, 200, 400, 300]]; // prettier-ignore

  test.each(COVER_WAYS)(
    '%s: pixels that change places within a block change nothing',
    async (how) => {
      const before = noise(400, 300);
      const after = shuffled(before, boxes, 20);
      expect(after.data.equals(before.data)).toBe(false);
      const [one, other] = [await png(before), await png(after)];
      const [[covering], [again]] = [
        await pictures(one, boxes, covered(how)),
        await pictures(other, boxes, covered(how)),
      ];
      expect(covering!.equals(again!)).toBe(true);
    },
  );

  test('fill: nothing of what was in a box counts', async () => {
    const before = noise(400, 300);
    const after = copy(before);
    for (const [left, top, right, bottom] of boxes) {
      for (let y = top; y < bottom; y += 1) {
        after.data.fill(random() * 255, 3 * (y * 400 + left), 3 * (y * 400 + right));
      }
    }
    const [[covering], [again]] = [
      await pictures(await png(before), boxes, covered('fill')),
      await pictures(await png(after), boxes, covered('fill')),
    ];
    expect(covering!.equals(again!)).toBe(true);
  });

  // prettier-ignore
  const SIZES = [[160, 60], [600, 200], [9, 9], [1, 1], [40, 3]] as const;
  test.each(['pixelate', 'blur'] as const)(
    '%s: at most 8 blocks, none of few pixels',
    async (how) => {
      for (const [width, height] of SIZES) {
        const before = noise(700, 300);
        const after = copy(before);
        await coverBoxes(after, [[50, 40, 50 + width, 40 + height]], how, 0);
        let changed = 0;
        let farthest = 0;
        const colours = new Set<number>();
        for (let at = 0; at < after.data.length; at += 3) {
          const [x, y] = [(at / 3) % 700, Math.floor(at / 3 / 700)];
          if (x >= 50 && x < 50 + width && y >= 40 && y < 40 + height) {
            colours.add(after.data.readUIntBE(at, 3));
            for (let each = at; each < at + 3; each += 1) {
              farthest = Math.max(farthest, Math.abs(after.data[each]! - 127.5));
            }
          } else if (after.data.readUIntBE(at, 3) !== before.data.readUIntBE(at, 3)) changed += 1;
        }
        // A small box is made larger: what is around it is covered with it.
        if (Math.min(width, height) >= 16) expect(changed).toBe(0);
        const block = Math.max(16, Math.max(width, height) / 8);
        const blocks = [width, height].map((side) => Math.max(1, Math.floor(side / block)));
        if (how === 'pixelate') expect(colours.size).toBeLessThanOrEqual(blocks[0]! * blocks[1]!);
        // A mean of noise is grey; a pixel of it is not.
        expect(farthest).toBeLessThan(30);
      }
    },
  );

  test.each(COVER_WAYS)('%s: a small box shows nothing more of a large one', async (how) => {
    const before = noise(400, 300);
    const [alone, together] = [copy(before), copy(before)];
    const [large, small]: Box[] = [[20, 20, 380, 280], [100, 100, 140, 140]]; // prettier-ignore
    await coverBoxes(alone, [large!], how, 0);
    await coverBoxes(together, [large!, small!], how, 0);
    expect(together.data.equals(alone.data)).toBe(true);
  });

  test('have a margin, end at the border, and leave the rest as it was', async () => {
    const before = noise(400, 300);
    const after = copy(before);
    await coverBoxes(after, [[100, 100, 200, 150], [380, 280, 500, 400]], 'fill', 0.1); // prettier-ignore
    const isBlack = (x: number, y: number) => String(colourAt(after, x, y)) === '0,0,0';
    expect([isBlack(90, 95), isBlack(209, 154), isBlack(399, 299), isBlack(368, 268)]).toEqual([
      true,
      true,
      true,
      true,
    ]);
    for (const [x, y] of [
      [89, 100],
      [210, 100],
      [150, 94],
      [150, 155],
      [367, 290],
    ] as const) {
      // prettier-ignore
      expect(colourAt(after, x, y)).toEqual(colourAt(before, x, y));
    }
  });

  const photo = sharp({ create: { width: 320, height: 200, channels: 3, background: '#c08040' } });
  test.each([
    ['grey', () => photo.clone().greyscale().png().toBuffer()],
    ['CMYK', () => photo.clone().toColourspace('cmyk').jpeg().toBuffer()],
    ['16 bit', () => photo.clone().toColourspace('rgb16').png().toBuffer()],
    ['alpha', () => photo.clone().ensureAlpha(0.5).png().toBuffer()],
    ['grey with alpha', () => photo.clone().greyscale().ensureAlpha(0.5).png().toBuffer()],
    ['TIFF', () => photo.clone().tiff().toBuffer()],
    ['WebP', () => photo.clone().webp().toBuffer()],
    ['turned', () => photo.clone().rotate(90).withMetadata({ orientation: 8 }).jpeg().toBuffer()],
  ])('of a picture that is %s', async (_what, make) => {
    const bytes = await make();
    const image = { width: 320, height: 200 };
    const [jpeg] = await pictures(bytes, [[200, 40, 280, 120]], covered('fill'), { image });
    const result = await pixelsOf(jpeg!);
    expect(result).toMatchObject(image);
    expect(Math.max(...colourAt(result, 240, 80))).toBeLessThan(3);
    const outside = await pixelsOf(bytes);
    const [was, is] = [colourAt(outside, 100, 80), colourAt(result, 100, 80)];
    for (const channel of [0, 1, 2] as const) {
      expect(Math.abs(was[channel]! - is[channel]!)).toBeLessThan(8);
    }
  });

  test('take nothing over from the file but its pixels', async () => {
    const plain = await photo
      .clone()
      .withIccProfile('p3')
      .withExif({ IFD0: { Copyright: 'secret-owner' }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } })
      .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/">secret-place</x:xmpmeta>')
      .jpeg()
      .toBuffer();
    const thumbnail = Buffer.from('Exif\0\0secret-thumbnail');
    const marker = Buffer.from([0xff, 0xe1, 0, thumbnail.length + 2]);
    const bytes = Buffer.concat([plain.subarray(0, 2), marker, thumbnail, plain.subarray(2)]);
    expect(bytes.toString('latin1').match(/secret-\w+/g)).toContain('secret-thumbnail');
    for (const look of [
      ...COVER_WAYS.map((how) => covered(how)),
      { kind: 'crops', margin: 0 } as const,
    ]) {
      const [jpeg] = await pictures(bytes, [[10, 10, 90, 90]], look);
      expect(jpeg!.toString('latin1')).not.toMatch(/secret|Exif|ICC_PROFILE|xmp/);
      const { exif, icc, xmp, iptc, orientation } = await sharp(jpeg).metadata();
      expect([exif, icc, xmp, iptc, orientation]).toEqual(Array(5).fill(undefined));
    }
  });

  test('of another picture than the one that was looked at are refused', async () => {
    const bytes = await photo.clone().png().toBuffer();
    const others = [{ image: { width: 321, height: 200 } }, { file: { size: bytes.length + 1 } }];
    for (const found of others) {
      await expect(pictures(bytes, [], covered('fill'), found)).rejects.toMatchObject({
        code: 'input_changed',
      });
    }
  });

  const folder = join(SHARED_TESTDATA, 'coco128', 'images');
  const names = (path: string): string[] =>
    readdirSync(path, { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('.jpg'))
      .sort();

  test.skipIf(!hasTestdata)(
    'of photos: as those of photos whose boxes were means before',
    async () => {
      const count = Number(process.env.COVERED_PHOTOS ?? 12);
      for (const name of names(folder).slice(0, count)) {
        const bytes = readFileSync(join(folder, name));
        const before = await pixelsOf(bytes);
        const { width, height } = before;
        // In two halves, so that none overlaps another, and beyond the border.
        const boxes: Box[] = [0, 1].map((half) => {
          const [x, y] = [half * 0.5 * width + 0.2 * width * random(), 0.7 * height * random()];
          return [x, y, x + 0.25 * width * random(), y + 0.5 * height * random()];
        });
        const after = copy(before);
        await coverBoxes(after, boxes, 'pixelate', 0.1);
        for (const how of COVER_WAYS) {
          const look = covered(how, 0.1);
          const [[covering], [again]] = [
            await pictures(bytes, boxes, look),
            await pictures(await png(after), boxes, look),
          ];
          expect(covering!.equals(again!), `${name} ${how}`).toBe(true);
        }
      }
    },
  );
});

describe('crops', () => {
  const photo = sharp({ create: { width: 320, height: 200, channels: 3, background: 'teal' } });
  const sizes = async (jpegs: readonly Buffer[]) =>
    Promise.all(
      jpegs.map(async (jpeg) => {
        const { width, height, format } = await sharp(jpeg).metadata();
        return `${format} ${width}x${height}`;
      }),
    );

  test('are one for each box, with a margin and within the picture', async () => {
    const bytes = await photo.png().toBuffer();
    const boxes: Box[] = [[10.2, 20, 110, 70], [300, 180, 320, 200], [319.9, 10, 320, 10.1]]; // prettier-ignore
    expect(await sizes(await pictures(bytes, boxes, { kind: 'crops', margin: 0 }))).toEqual([
      'jpeg 100x50',
      'jpeg 20x20',
      'jpeg 1x1',
    ]);
    expect(await sizes(await pictures(bytes, boxes, { kind: 'crops', margin: 0.5 }))).toEqual([
      'jpeg 160x95',
      'jpeg 30x30',
      'jpeg 1x2',
    ]);
  });
});
