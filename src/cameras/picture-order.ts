/**
 * Pictures of one camera that come out of order. One waits until a picture has come that is newer by the longest delay,
 * so that the places are the same whatever the order within it.
 */
import {
  foldPicture,
  noPlaces,
  unplaced,
  type Picture,
  type PlacedPicture,
  type PlaceRules,
  type Places,
} from './place-tracker.js';

/** Seconds by which a picture may come after a newer one. */
const MOST_DELAY_SECONDS = 3600;

/** The state of a camera: plain data. */
export interface CameraPlaces {
  /** The pictures up to `newest` less the longest delay. */
  places: Places;
  /** The later ones, in order. */
  pending: Picture[];
  /** Time of the newest picture, seconds; null before the first. */
  newest: number | null;
  /** Pictures that came too late and were left out. */
  late: number;
}

export const newCamera = (): CameraPlaces => ({
  places: noPlaces(),
  pending: [],
  newest: null,
  late: 0,
});

/**
 * Takes a picture into `camera`, which it changes. Returns the pictures that were folded, which are those that are now
 * older than the longest delay; a picture that comes too late is returned at once, with boxes that are unknown. A
 * picture that waits already, by its time and key, is replaced.
 */
export function addPicture(
  camera: CameraPlaces,
  picture: Picture,
  rules: PlaceRules,
  mostDelay = MOST_DELAY_SECONDS,
): PlacedPicture[] {
  if (camera.newest !== null && picture.time < camera.newest - mostDelay) {
    camera.late += 1;
    return [unplaced(picture)];
  }
  const newest = Math.max(camera.newest ?? picture.time, picture.time);
  camera.newest = newest;
  insert(camera.pending, picture);
  const first = camera.pending.findIndex(({ time }) => time >= newest - mostDelay);
  return camera.pending.splice(0, first).map((ready) => foldPicture(camera.places, ready, rules));
}

/**
 * The places as they are if nothing older comes, and the pictures that wait, folded into a copy. Who reads often keeps
 * the copy and folds each picture into it that is newer than all before.
 */
export function withPending(
  { places, pending }: CameraPlaces,
  rules: PlaceRules,
): { places: Places; pictures: PlacedPicture[] } {
  const copy = structuredClone(places);
  return { places: copy, pictures: pending.map((picture) => foldPicture(copy, picture, rules)) };
}

function insert(pending: Picture[], picture: Picture): void {
  let at = pending.length;
  for (; at > 0; at -= 1) {
    const before = pending[at - 1];
    if (before === undefined || comesBefore(before, picture)) break;
  }
  const isKnown = pending[at]?.time === picture.time && pending[at]?.key === picture.key;
  pending.splice(at, isKnown ? 1 : 0, picture);
}

const comesBefore = (one: Picture, other: Picture): boolean =>
  one.time < other.time || (one.time === other.time && one.key < other.key);
