/** Where the picture of an image of a job is. */
import { imageFilePath } from '../picture/use-picture.js';

const SHOWN_BY_BROWSERS = /\.(?:jpe?g|png|webp|avif)$/i;
const LARGE = 2048;

/** Of the file, or of a copy where browsers cannot show it. */
export function pictureRoute(path: string): string {
  return imageFilePath(path, SHOWN_BY_BROWSERS.test(path) ? null : LARGE);
}
