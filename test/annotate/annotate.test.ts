import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PACKAGE_ROOT } from '../../src/base/package.js';
import { Annotator } from '../../src/annotate/annotate.js';
import type { Detection } from '../../src/api/schemas/image.js';
import { classColour } from '../../src/overlay/class-colour.js';
import { decodeImage } from '../../src/native/core.js';

const picture = readFileSync(join(PACKAGE_ROOT, 'models/demo/shapes.png'));
let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'lattice-annotate-'));
});
afterEach(() => {
  rmSync(dataDir, { recursive: true });
});

const annotator = (bytes: Buffer) =>
  new Annotator({
    detector: {
      readImage: () => Promise.resolve(bytes),
      decodeImage: (encoded) => decodeImage(encoded, { maxPixels: 1_000_000, maxSide: 16_384 }),
    },
    dataDir,
    maxPixels: 1_000_000,
  });
/** No copy belongs to a job. */
const nobody = () => Promise.resolve([]);
const bus: Detection = { class: 'bus', confidence: 0.87, box: [64, 32, 288, 160] };

async function pixel(jpeg: Buffer, x: number, y: number): Promise<number[]> {
  const { data, info } = await sharp(jpeg).raw().toBuffer({ resolveWithObject: true });
  return [...data.subarray(3 * (y * info.width + x), 3 * (y * info.width + x) + 3)];
}
const rgb = (hex: string) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
const near = (a: readonly number[], b: readonly number[]) =>
  Math.max(...a.map((value, index) => Math.abs(value - (b[index] ?? 0))));

describe('drawn copies', () => {
  it('may be small: lines and labels are drawn at that size', async () => {
    const [jpeg = picture] = await annotator(picture).pictures(
      'shapes.png',
      { detections: [bus] },
      { kind: 'drawn', most: 320 },
    );
    expect(await sharp(jpeg).metadata()).toMatchObject({ format: 'jpeg', width: 320, height: 240 });
    expect(near(await pixel(jpeg, 90, 78), rgb(classColour('bus').colour))).toBeLessThan(60);
    const [whole] = await annotator(picture).pictures(
      'shapes.png',
      { detections: [bus] },
      { kind: 'drawn', most: 10_000 },
    );
    expect(await sharp(whole).metadata()).toMatchObject({ width: 640, height: 480 });
  });

  it('show frame and label, and leave the rest as it was', async () => {
    const copies = annotator(picture);
    const name = await copies.annotate('shapes.png', [bus], null);
    expect(name).toMatch(/^[0-9a-f]{32}\.jpg$/);
    const jpeg = (await copies.read(name, null))!;
    expect(await sharp(jpeg).metadata()).toMatchObject({ format: 'jpeg', width: 640, height: 480 });
    expect(near(await pixel(jpeg, 180, 158), rgb(classColour('bus').colour))).toBeLessThan(60);
    expect(near(await pixel(jpeg, 176, 100), [40, 180, 60])).toBeLessThan(12);
    expect(near(await pixel(jpeg, 600, 400), [128, 128, 128])).toBeLessThan(6);
    expect(readdirSync(join(dataDir, 'annotated'))).toEqual([name]);
  });

  it.each([
    ['grey', () => sharp(picture).greyscale().png().toBuffer()],
    ['CMYK', () => sharp(picture).toColourspace('cmyk').jpeg().toBuffer()],
    ['16 bit', () => sharp(picture).toColourspace('rgb16').png().toBuffer()],
    ['alpha', () => sharp(picture).ensureAlpha(0.5).png().toBuffer()],
    ['TIFF', () => sharp(picture).removeAlpha().tiff().toBuffer()],
  ])('are made of %s pictures', async (_what, make) => {
    const copies = annotator(await make());
    const jpeg = (await copies.read(await copies.annotate('x', [bus], null), null))!;
    expect(await sharp(jpeg).metadata()).toMatchObject({ channels: 3, width: 640, height: 480 });
  });

  it('are made of a JPEG without its end marker, not of one that breaks off', async () => {
    const jpeg = await sharp(picture).jpeg().toBuffer();
    const copies = annotator(jpeg.subarray(0, -2));
    const copy = (await copies.read(await copies.annotate('x', [bus], null), null))!;
    expect(near(await pixel(copy, 176, 100), [40, 180, 60])).toBeLessThan(12);
    const cut = Buffer.concat([jpeg.subarray(0, jpeg.length / 2), Buffer.from([0xff, 0xd9])]);
    await expect(annotator(cut).annotate('x', [bus], null)).rejects.toMatchObject({
      code: 'invalid_image',
      message: expect.stringMatching(/first \d+ of 480 rows can be read/),
    });
  });

  it('are turned as EXIF says, so that boxes fit', async () => {
    const turned = await sharp(picture).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const copies = annotator(turned);
    const jpeg = (await copies.read(await copies.annotate('x', [], null), null))!;
    expect(await sharp(jpeg).metadata()).toMatchObject({ width: 480, height: 640 });
  });

  it('are refused for bytes that are no picture and for too many pixels', async () => {
    for (const text of [
      'no picture',
      '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
    ]) {
      const drawn = annotator(Buffer.from(text)).annotate('x', [], null);
      await expect(drawn).rejects.toMatchObject({ code: 'invalid_image' });
    }
    const large = await sharp({
      create: { width: 2000, height: 1000, channels: 3, background: 'red' },
    })
      .png()
      .toBuffer();
    await expect(annotator(large).annotate('x', [], null)).rejects.toMatchObject({
      code: 'image_too_large',
    });
  });

  it('are refused when they cannot be kept', async () => {
    writeFileSync(join(dataDir, 'annotated'), 'a file where the folder should be');
    await expect(annotator(picture).annotate('x', [], null)).rejects.toMatchObject({
      code: 'storage_unavailable',
    });
  });

  it('are read by their own names only', async () => {
    writeFileSync(join(dataDir, 'secret.jpg'), 'secret');
    for (const name of ['../secret.jpg', 'secret.jpg', '', `${'0'.repeat(32)}.jpg`]) {
      expect(await annotator(picture).read(name, null)).toBeNull();
    }
  });

  it('are found by the key that drew them, and by all where none did', async () => {
    const copies = annotator(picture);
    const [alice, bob] = ['0123456789abcdef', 'fedcba9876543210'];
    const [hers, anyones] = [
      await copies.annotate('x', [], alice),
      await copies.annotate('x', [], null),
    ];
    const readers = (name: string) =>
      Promise.all([alice, bob, null].map(async (key) => (await copies.read(name, key)) !== null));
    expect(await readers(hers)).toEqual([true, false, true]);
    expect(await readers(anyones)).toEqual([true, true, true]);
    utimesSync(join(dataDir, 'annotated', alice, hers), 1, 1);
    expect(await copies.prune(Date.now() - 60_000, nobody)).toMatchObject({ removed: 1 });
    expect(await readers(hers)).toEqual([false, false, false]);
  });

  it('are pruned by age', async () => {
    const copies = annotator(picture);
    const [old, fresh] = [
      await copies.annotate('x', [], null),
      await copies.annotate('x', [], null),
    ];
    utimesSync(join(dataDir, 'annotated', old), 1, 1);
    expect(await copies.prune(Date.now() - 60_000, nobody)).toMatchObject({ removed: 1 });
    expect(readdirSync(join(dataDir, 'annotated'))).toEqual([fresh]);
  });
});

it('those that are in use stay, however old they are; the bytes of what is left are known', async () => {
  const copies = annotator(picture);
  const names = await Promise.all([1, 2, 3].map(() => copies.annotate('x', [], 'hers')));
  const [used, unused, fresh] = names as [string, string, string];
  for (const old of [used, unused]) utimesSync(join(dataDir, 'annotated', 'hers', old), 1, 1);
  const asked: string[] = [];
  const pruned = await copies.prune(Date.now() - 60_000, (some) => {
    asked.push(...some);
    return Promise.resolve([used]);
  });
  const left = readdirSync(join(dataDir, 'annotated', 'hers'));
  expect(left.sort()).toEqual([used, fresh].sort());
  const sizes = left.map((name) => statSync(join(dataDir, 'annotated', 'hers', name)).size);
  expect(pruned).toEqual({ removed: 1, bytes: sizes.reduce((sum, size) => sum + size, 0) });
  expect(asked.sort()).toEqual(names.sort());
});

it('are removed by name, also those of a key', async () => {
  const copies = annotator(picture);
  const names = [await copies.annotate('x', [], null), await copies.annotate('x', [], 'hers')];
  const other = await copies.annotate('x', [], 'hers');
  await copies.remove(names);
  expect(await copies.read(names[0]!, null)).toBeNull();
  expect(await copies.read(names[1]!, 'hers')).toBeNull();
  expect(await copies.read(other, 'hers')).not.toBeNull();
});
