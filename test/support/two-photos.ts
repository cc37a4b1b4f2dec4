/** The two photos of the bundled pictures side by side: what every option of a detection changes something in. */
import { join } from 'node:path';
import sharp from 'sharp';
import { DEMO } from './service-client.js';

const SIDE = { width: 960, height: 720 };

export async function writeTwoPhotos(file: string): Promise<void> {
  const photos = ['street.jpg', 'crossing.jpg'].map((name, at) => ({
    input: join(DEMO, name),
    left: at * SIDE.width,
    top: 0,
  }));
  const empty = { ...SIDE, width: 2 * SIDE.width, channels: 3 as const, background: 'grey' };
  await sharp({ create: empty }).composite(photos).png().toFile(file);
}
