/** Pixels of encoded images, and formats that only the addon decodes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { loadAddon } from '../../src/native/addon-loader.js';
import { decodeImage } from '../../src/native/core.js';
import { openTestCore, ROOT, taskFor } from './open-test-core.js';

const LIMITS = { maxPixels: 1_000_000, maxSide: 2_000 };
const picture = readFileSync(join(ROOT, 'models', 'demo', 'shapes.png'));

async function rgbOf(bytes: Buffer) {
  return sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
}

/** 32 bits a pixel, the first row on top. */
async function bmpOf(bytes: Buffer): Promise<Buffer> {
  const { data, info } = await rgbOf(bytes);
  const header = Buffer.alloc(54);
  header.write('BM');
  header.writeUInt32LE(54, 10);
  header.writeUInt32LE(40, 14);
  header.writeInt32LE(info.width, 18);
  header.writeInt32LE(-info.height, 22);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(32, 28);
  const rows = Buffer.alloc(4 * info.width * info.height);
  for (let pixel = 0; pixel < info.width * info.height; pixel += 1) {
    rows.set(data.subarray(3 * pixel, 3 * pixel + 3).toReversed(), 4 * pixel);
  }
  return Buffer.concat([header, rows]);
}

it('gives the pixels of an image, upright', async () => {
  const { data, info } = await rgbOf(picture);
  expect(await decodeImage(picture, LIMITS)).toEqual({
    data,
    width: info.width,
    height: info.height,
  });
  const turned = await sharp(picture).withMetadata({ orientation: 6 }).jpeg().toBuffer();
  expect(await decodeImage(turned, LIMITS)).toMatchObject({ width: 480, height: 640 });
});

it('rejects with the codes of an image', async () => {
  const codes: [Buffer, typeof LIMITS, string][] = [
    [Buffer.from('no image'), LIMITS, 'unsupported_image_format'],
    [picture.subarray(0, 500), LIMITS, 'invalid_image'],
    [picture, { ...LIMITS, maxSide: 639 }, 'image_too_large'],
  ];
  for (const [bytes, limits, code] of codes) {
    await expect(decodeImage(bytes, limits)).rejects.toMatchObject({ code });
  }
});

it('throws a TypeError for arguments of a wrong kind', () => {
  const addon = loadAddon() as unknown as { decodeImage: (...args: unknown[]) => unknown };
  for (const args of [[], ['text', 1, 1], [picture, '1', 1], [new Uint16Array(4), 1, 1]]) {
    expect(() => addon.decodeImage(...args)).toThrow(TypeError);
  }
});

it('finds in a BMP what it finds in the PNG', async () => {
  const { core, model } = await openTestCore();
  const png = await core.run(taskFor(model));
  const bmp = await core.run(taskFor(model, { path: null, bytes: await bmpOf(picture) }));
  expect(bmp.boxes).toEqual(png.boxes);
  await core.close();
});
