/** Places in which vehicles stood in the pictures of cameras, on the thread of the store. */
import type { Detection, ImageSize } from '../../api/schemas/image.js';
import type { Stay } from '../../cameras/stays.js';
import type { Asked } from '../asked-boxes.js';
import { imagesOf, type CameraPictures, type PictureName } from './camera-pictures.js';
import type { CountFigures } from '../count-tally.js';
import { DismissedPlaces } from './dismissed-places.js';
import { StandingBoxes, type StandingPlace } from './standing-boxes.js';
import type { Statements } from '../statements.js';

export interface PlaceRow {
  /** The folder of the pictures; null: all pictures are of one camera. */
  camera: string | null;
  /** The number of the place within its camera. */
  place: number;
  /** The best box in it, in the picture `image`. */
  best: Pick<Detection, 'box' | 'class' | 'confidence'>;
  /** Null: its job was removed since it was read. */
  image: PictureName | null;
  /** Size of that picture. */
  size: ImageSize;
  /** Names of the regions that the best box lies in. */
  regions: string[];
  /** The number of the dismissed place that it is; null: none. */
  dismissal: number | null;
  /** Pictures with a vehicle in it, and all since the first one of them. */
  seen: number;
  pictures: number;
  /** Oldest first. */
  stays: Pick<Stay, 'since' | 'lastSeen' | 'seen'>[];
  /** The last stay goes on. */
  isOccupied: boolean;
}

export interface FoundPlaces extends CountFigures {
  /** By camera and place. */
  places: PlaceRow[];
}

/** The places of all cameras. Throws `NeedsView`. */
export function* placeRows(
  statements: Statements,
  pictures: CameraPictures,
  asked: Asked,
): Generator<undefined, PlaceRow[]> {
  const rows: PlaceRow[] = [];
  const dismissed = new DismissedPlaces(statements);
  for (const camera of pictures.cameras) {
    const standing = new StandingBoxes(asked, dismissed);
    yield* standing.read(pictures, camera);
    const places = [...standing.places()];
    const images = imagesOf(
      statements,
      places.map(({ best }) => best.task),
    );
    rows.push(...places.map((place) => toRow(camera, place, images)));
    yield;
  }
  return rows;
}

function toRow(
  camera: string | null,
  { place, stays, best, regions }: StandingPlace,
  images: ReadonlyMap<number, PictureName>,
): PlaceRow {
  const { box, class: name, confidence, task, image: size, dismissal } = best;
  return {
    camera,
    place: place.id,
    best: { box, class: name, confidence },
    image: images.get(task) ?? null,
    size,
    regions,
    dismissal,
    seen: place.seen,
    pictures: place.pictures,
    stays: stays.map(({ since, lastSeen, seen }) => ({ since, lastSeen, seen })),
    isOccupied: place.stay?.isStatic === true,
  };
}
