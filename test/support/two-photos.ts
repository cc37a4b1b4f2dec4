/** The two photos of the bundled pictures side by side: what every option of a detection changes something in. */
import { join } from 'node:path';
import sharp from 'sharp';
import { IN_SYDNEY } from './photo-in-sydney.js';
import { DEMO } from './service-client.js';

/** As small as each option still changes boxes: the detector runs on it some hundred times, per tile. */
const SIDE = { width: 640, height: 480 };

export async function writeTwoPhotos(file: string): Promise<void> {
  const photos = await Promise.all(
    ['street.jpg', 'crossing.jpg'].map(async (name, at) => ({
      input: await sharp(join(DEMO, name)).resize(SIDE).png().toBuffer(),
      left: at * SIDE.width,
      top: 0,
    })),
  );
  const empty = { ...SIDE, width: 2 * SIDE.width, channels: 3 as const, background: 'grey' };
  // A map has a point for it.
  await sharp({ create: empty }).composite(photos).withExif(IN_SYDNEY).png().toFile(file);
}
