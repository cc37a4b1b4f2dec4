/** The number of images of the network that a picture counts for before it was opened. */
import { imagesOf, imagesOfGrid, type Tiles } from '../api/tiles.js';
import type { ImageTiles } from '../api/schemas/image.js';

/** Images of a picture whose size decides, before the first one ran: a grid of 4 x 2 and the whole picture. */
const FIRST = 9;
/** Weight of the newest picture in the mean. */
const NEWEST = 0.2;

export class PictureCost {
  /** Mean of the pictures whose sizes decided. */
  #bySize = FIRST;

  of(tiles: Tiles): number {
    return imagesOf(tiles) ?? Math.round(this.#bySize);
  }

  /** A picture ran in these tiles, or whole. Returns its images. */
  ran(asked: Tiles, ran: ImageTiles | undefined): number {
    const images = imagesOfGrid(ran);
    if (imagesOf(asked) === null) this.#bySize += NEWEST * (images - this.#bySize);
    return images;
  }
}
