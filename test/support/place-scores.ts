/** How well the places that were found fit a sequence with known truth. */
import type { PlacedPicture, PlaceChange, PlaceRules } from '../../src/cameras/place-tracker.js';
import type { Sequence } from './camera-stills.js';

export interface PlaceScores {
  /** Boxes above the threshold. */
  boxes: number;
  parked: number;
  precision: number;
  recall: number;
  f1: number;
  /** Share of the true stays of which one found stay has both ends within an interval. */
  staysRight: number;
  stays: number;
  staysFound: number;
  /** The count without static boxes, less the true one, as a share of the true one. */
  countOff: number;
}

/** `placed` are all pictures of the sequence, in any order; `camera` is unused where none is pending. */
export function placeScores(
  { stills, stays, interval }: Sequence,
  placed: readonly PlacedPicture[],
  rules: PlaceRules,
): PlaceScores {
  const decided = new Map(
    placed.flatMap((picture) => picture.decided.map((one) => [one.stay, one.static] as const)),
  );
  const byKey = new Map(placed.map((picture) => [picture.key, picture]));
  let [boxes, parked, right, found] = [0, 0, 0, 0];
  const placesOf = new Map<number, Set<number>>();
  for (const { key, boxes: pictureBoxes, vehicles } of stills) {
    pictureBoxes.forEach(({ confidence }, at) => {
      const vehicle = vehicles[at]!;
      const answer = byKey.get(key)!.boxes[at]!;
      if (answer.place !== null && vehicle.isParked) {
        const places = placesOf.get(vehicle.name) ?? new Set();
        placesOf.set(vehicle.name, places.add(answer.place));
      }
      if (confidence <= rules.confidence) return;
      const isStatic = answer.stay === null ? answer.static : decided.get(answer.stay);
      boxes += 1;
      if (vehicle.isParked) parked += 1;
      if (isStatic === true) found += 1;
      if (isStatic === true && vehicle.isParked) right += 1;
    });
  }
  const spans = [...foundSpans(placed).values()];
  const staysRight = stays.filter(({ vehicle, first, last }) =>
    spans.some(
      ({ place, since, lastSeen }) =>
        placesOf.get(vehicle)?.has(place) === true &&
        Math.abs(since - first) <= interval &&
        Math.abs(lastSeen - last) <= interval,
    ),
  );
  const [precision, recall] = [right / found, right / parked];
  return {
    boxes,
    parked,
    precision,
    recall,
    f1: (2 * precision * recall) / (precision + recall),
    staysRight: staysRight.length / stays.length,
    stays: stays.length,
    staysFound: spans.length,
    countOff: (boxes - found - (boxes - parked)) / (boxes - parked),
  };
}

/** Spans of static stays; one that has not ended reaches to its last box. */
function foundSpans(placed: readonly PlacedPicture[]): Map<number, PlaceChange> {
  const changes = placed.flatMap((picture) => picture.changes);
  const spans = new Map(changes.map((change) => [change.stay, { ...change }]));
  for (const { time, boxes } of placed) {
    for (const { stay } of boxes) {
      const span = stay === null ? undefined : spans.get(stay);
      if (span?.kind === 'occupied') span.lastSeen = Math.max(span.lastSeen, time);
    }
  }
  return spans;
}
