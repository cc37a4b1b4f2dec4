/** Copies of a photo as the stills of a camera, one every two minutes: all vehicles in it stand. */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PICTURE } from './service-client.js';

const MINUTES = ['00', '02', '04', '06', '08', '10'];

export function writeParkedLot(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const minute of MINUTES) {
    copyFileSync(PICTURE, join(folder, `2025-11-26T15-${minute}-00.png`));
  }
}
