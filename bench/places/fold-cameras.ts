/** The fold of the pictures of cameras in memory: its time, its state, and how right it is. */
import {
  foldPicture,
  noPlaces,
  PLACE_RULES,
  type PlacedPicture,
} from '../../src/cameras/place-tracker.js';
import { addPicture, newCamera, withPending } from '../../src/cameras/picture-order.js';
import { placeScores, type PlaceScores } from '../../test/support/place-scores.js';
import { median } from '../load/percentiles.js';
import type { Camera } from './cameras.js';

/** The state is measured after each picture of this number. */
const EACH = 20;

export interface Folded {
  usPerPicture: number;
  /** JSON of the places, in bytes, of the whole run. */
  stateBytes: { most: number; median: number };
  /** The same with the pictures that wait for others of their hour. */
  waitingBytes: { most: number; median: number };
  scores: PlaceScores;
  placed: PlacedPicture[];
}

export function foldCamera({ sequence }: Camera): Folded {
  const { stills } = sequence;
  const state = noPlaces();
  const start = performance.now();
  const placed = stills.map((still) => foldPicture(state, still, PLACE_RULES));
  const usPerPicture = (1_000 * (performance.now() - start)) / stills.length;
  const camera = newCamera();
  const places: number[] = [];
  const all: number[] = [];
  stills.forEach(({ key, time, width, height, boxes }, at) => {
    addPicture(camera, { key, time, width, height, boxes }, PLACE_RULES);
    if (at % EACH > 0) return;
    const now = withPending(camera, PLACE_RULES);
    places.push(JSON.stringify(now.places).length);
    all.push(JSON.stringify(camera).length);
  });
  return {
    usPerPicture,
    stateBytes: { most: Math.max(...places), median: median(places) },
    waitingBytes: { most: Math.max(...all), median: median(all) },
    scores: placeScores(sequence, placed, PLACE_RULES),
    placed,
  };
}
