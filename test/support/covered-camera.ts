/** Stills of a camera, one every three minutes from 14:00 on, some of which show nothing but one colour. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { PICTURE } from './service-client.js';

const minuteOf = (at: number) => String(3 * at).padStart(2, '0');

export const takenAt = (at: number) => `2025-11-26T14:${minuteOf(at)}:00`;

/** Writes the picture number `at`, counted from 0. */
export async function takeStill(folder: string, at: number, isCovered: boolean): Promise<void> {
  const picture = isCovered
    ? sharp({
        create: { width: 640, height: 480, channels: 3, background: { r: 90, g: 80 + at, b: 70 } },
      })
    : sharp(PICTURE).modulate({ brightness: 0.9 + 0.02 * (at % 5) });
  const file = join(folder, `20251126_14${minuteOf(at)}00.jpg`);
  writeFileSync(file, await picture.jpeg().toBuffer());
}
