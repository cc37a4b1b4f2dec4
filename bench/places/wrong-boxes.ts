/** Boxes of a sequence that are said to stand and do not, or the reverse, and when in the stay of their vehicle. */
import type { Box } from '../../src/boxes/overlap.js';
import { PLACE_RULES, type PlacedPicture } from '../../src/cameras/place-tracker.js';
import type { Sequence, Still } from '../../test/support/camera-stills.js';
import { median } from '../load/percentiles.js';

export type Verdict =
  | 'stands'
  | 'moves'
  | 'moves, said to stand'
  | 'stands, first pictures'
  | 'stands, last pictures'
  | 'stands, in between'
  | 'stands, never found';

export const isWrong = (verdict: Verdict): boolean => verdict !== 'stands' && verdict !== 'moves';

export interface JudgedStill {
  still: Still;
  /** By the boxes of the still; null: it is below the threshold. */
  verdicts: (Verdict | null)[];
  /** Where the vehicles of wrong boxes stand in most pictures. */
  usual: Box[];
}

interface SeenAs {
  time: number;
  isFound: boolean;
  box: Box;
}

/** `placed` are the pictures of the sequence in order. */
export function judge({ stills }: Sequence, placed: readonly PlacedPicture[]): JudgedStill[] {
  const decided = new Map(
    placed.flatMap((picture) => picture.decided.map((one) => [one.stay, one.static] as const)),
  );
  const isStrong = (still: Still, at: number) =>
    still.boxes[at]!.confidence > PLACE_RULES.confidence;
  const isFound = (picture: number, at: number): boolean => {
    const { stay } = placed[picture]!.boxes[at]!;
    return stay !== null && decided.get(stay) === true;
  };
  const parked = new Map<number, SeenAs[]>();
  stills.forEach((still, picture) => {
    still.vehicles.forEach(({ name, isParked }, at) => {
      if (!isParked || !isStrong(still, at)) return;
      const seen = parked.get(name) ?? [];
      parked.set(name, seen);
      seen.push({ time: still.time, isFound: isFound(picture, at), box: still.boxes[at]!.box });
    });
  });
  return stills.map((still, picture) => {
    const verdicts = still.vehicles.map(({ name, isParked }, at): Verdict | null => {
      if (!isStrong(still, at)) return null;
      if (!isParked) return isFound(picture, at) ? 'moves, said to stand' : 'moves';
      return isFound(picture, at) ? 'stands' : missedAs(parked.get(name) ?? [], still.time);
    });
    const usual = still.vehicles.flatMap(({ name, isParked }, at) => {
      const verdict = verdicts[at];
      return verdict && isWrong(verdict) && isParked ? [middleOf(parked.get(name) ?? [])] : [];
    });
    return { still, verdicts, usual };
  });
}

function middleOf(seen: readonly SeenAs[]): Box {
  const middle = (side: 0 | 1 | 2 | 3) => median(seen.map(({ box }) => box[side]));
  return [middle(0), middle(1), middle(2), middle(3)];
}

function missedAs(seen: readonly SeenAs[], time: number): Verdict {
  const found = seen.filter(({ isFound }) => isFound);
  const [first, last] = [found[0], found.at(-1)];
  if (first === undefined || last === undefined) return 'stands, never found';
  if (time < first.time) return 'stands, first pictures';
  return time > last.time ? 'stands, last pictures' : 'stands, in between';
}
