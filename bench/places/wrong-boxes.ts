/** Boxes of a sequence that are said to stand and do not, or the reverse, and when in the stay of their vehicle. */
import { PLACE_RULES, type PlacedPicture } from '../../src/cameras/place-tracker.js';
import type { Sequence, Still } from '../../test/support/camera-stills.js';

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
}

interface SeenAs {
  time: number;
  isFound: boolean;
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
      seen.push({ time: still.time, isFound: isFound(picture, at) });
    });
  });
  return stills.map((still, picture) => ({
    still,
    verdicts: still.vehicles.map(({ name, isParked }, at) => {
      if (!isStrong(still, at)) return null;
      if (!isParked) return isFound(picture, at) ? 'moves, said to stand' : 'moves';
      return isFound(picture, at) ? 'stands' : missedAs(parked.get(name) ?? [], still.time);
    }),
  }));
}

function missedAs(seen: readonly SeenAs[], time: number): Verdict {
  const found = seen.filter(({ isFound }) => isFound);
  const [first, last] = [found[0], found.at(-1)];
  if (first === undefined || last === undefined) return 'stands, never found';
  if (time < first.time) return 'stands, first pictures';
  return time > last.time ? 'stands, last pictures' : 'stands, in between';
}
