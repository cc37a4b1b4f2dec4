/** Looks of real photos, as the core gives them beside the boxes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PictureLook } from '../../src/api/schemas/image.js';
import { differenceOf, levelsOf } from '../../src/cameras/picture-look.js';
import type { NativeModel } from '../../src/native/contract.js';
import type { Core, CoreTask } from '../../src/native/core.js';
import { openTestCore, ROOT, sharedData, taskFor } from './open-test-core.js';

const shapes = readFileSync(join(ROOT, 'models', 'demo', 'shapes.png'));
let core: Core;
let model: NativeModel;
beforeAll(async () => {
  ({ core, model } = await openTestCore());
});
afterAll(() => core.close());

async function lookOf(bytes: Buffer, more: Partial<CoreTask> = {}): Promise<PictureLook> {
  const { look } = await core.run(taskFor(model, { path: null, bytes, look: true, ...more }));
  if (look === null) throw new Error('The result has no look.');
  return look;
}

test('a result has a look where its task asks for one, and the same boxes', async () => {
  const [plain, asked] = await Promise.all([
    core.run(taskFor(model)),
    core.run(taskFor(model, { look: true })),
  ]);
  expect(plain.look).toBeNull();
  expect(asked.look?.grey).toHaveLength(1_024);
  expect(asked.boxes).toEqual(plain.boxes);
  await expect(core.run(taskFor(model, { look: 1 as unknown as boolean }))).rejects.toThrow('look');
});

test('a black picture is dark and has no sharpness', async () => {
  const black = { width: 640, height: 360, channels: 3, background: '#000' } as const;
  for (const format of ['jpeg', 'png'] as const) {
    const look = await lookOf(await sharp({ create: black }).toFormat(format).toBuffer());
    expect(levelsOf(look.grey)).toEqual({ brightness: 0, spread: 0 });
    expect(look.sharpness).toBe(0);
  }
});

test('pixels, files, tiles and turned pictures have the look of what they show', async () => {
  const jpeg = await sharp(shapes).jpeg({ quality: 95 }).toBuffer();
  const look = await lookOf(jpeg);
  const { data, info } = await sharp(jpeg).raw().toBuffer({ resolveWithObject: true });
  const pixels = { data, width: info.width, height: info.height };
  const ofPixels = await core.run(taskFor(model, { path: null, pixels, look: true }));
  expect(differenceOf(ofPixels.look!.grey, look.grey)).toBeLessThan(1);
  const tiled = await lookOf(jpeg, { tiles: { columns: 2, rows: 2, overlap: 0.1 } });
  expect(differenceOf(tiled.grey, look.grey)).toBeLessThan(1);
  const turned = await lookOf(
    await sharp(jpeg).rotate(90).withMetadata({ orientation: 8 }).jpeg({ quality: 95 }).toBuffer(),
  );
  expect(differenceOf(turned.grey, look.grey)).toBeLessThan(1);
});

test('boxes above a confidence have descriptors where the task asks for them', async () => {
  const [plain, all, some] = await Promise.all([
    core.run(taskFor(model)),
    core.run(taskFor(model, { descriptorsAbove: 0 })),
    core.run(taskFor(model, { descriptorsAbove: 0.5 })),
  ]);
  expect(plain.descriptors).toBeNull();
  expect(all.boxes).toEqual(plain.boxes);
  const scores = Array.from({ length: all.boxes.length / 6 }, (_, at) => all.boxes[6 * at + 4]!);
  expect(all.descriptors).toHaveLength(64 * scores.length);
  const above = scores.filter((score) => score > 0.5).length;
  expect(above).toBeGreaterThan(0);
  expect(some.descriptors).toEqual(all.descriptors!.subarray(0, 64 * above));
  await expect(core.run(taskFor(model, { descriptorsAbove: 2 }))).rejects.toThrow(
    'descriptorsAbove',
  );
});

const shared = sharedData();
describe.skipIf(shared === null)('photos', () => {
  const photos = ['bus.jpg', 'alpr-eu7-2048x1536.jpg', 'cars-1920x1278-progressive.jpg'].map(
    (name) => join(shared ?? '', 'images', name),
  );

  test('lose sharpness by blur, and not by a change of light', async () => {
    for (const photo of photos) {
      const sharpness = async (image: Sharp) =>
        (await lookOf(await image.jpeg({ quality: 90 }).toBuffer())).sharpness;
      const own = await sharpness(sharp(photo));
      const { width } = await sharp(photo).metadata();
      expect(await sharpness(sharp(photo).blur(width / 200))).toBeLessThan(0.5 * own);
      const dimmed = await sharpness(sharp(photo).linear(0.5, 10));
      expect(Math.abs(dimmed - own)).toBeLessThan(0.15 * own);
    }
  });

  test('have one look in two sizes', async () => {
    for (const photo of photos) {
      const own = await lookOf(readFileSync(photo));
      const { width } = await sharp(photo).metadata();
      const smaller = await lookOf(
        await sharp(photo)
          .resize({ width: Math.round(width * 0.6) })
          .jpeg({ quality: 90 })
          .toBuffer(),
      );
      expect(differenceOf(smaller.grey, own.grey)).toBeLessThan(3);
      expect(Math.abs(smaller.sharpness - own.sharpness)).toBeLessThan(0.25 * own.sharpness);
    }
  });
});
