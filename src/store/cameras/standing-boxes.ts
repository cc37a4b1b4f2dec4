/**
 * Which boxes of the pictures of a camera are of vehicles that stand, from the boxes that jobs keep. It is known after
 * the last picture of a stay only, so all pictures of the camera are read before the first one is counted.
 */
import type { Detection, ImageSize } from '../../api/schemas/image.js';
import { describedBoxes, type DescribedBox } from '../../boxes/box-descriptors.js';
import { countClasses, countRegions } from '../../boxes/class-counts.js';
import type { FoundBoxes } from '../../boxes/found-boxes.js';
import { leastThreshold, refineDetections } from '../../boxes/refine-detections.js';
import { sortIntoRegions, withoutMasked } from '../../boxes/regions.js';
import { dismissalOf } from '../../cameras/dismissal.js';
import {
  foldPicture,
  noPlaces,
  PLACE_RULES,
  type BoxInPlace,
  type Place,
  type PlaceRules,
  type Places,
} from '../../cameras/place-tracker.js';
import type { Stay } from '../../cameras/stays.js';
import type { StaticChoice } from '../../api/job-values.js';
import type { DetectOptions } from '../../api/options.js';
import type { Region } from '../../api/region-rules.js';
import { foundOf, missingView, optionsOf, type Asked } from '../asked-boxes.js';
import { NeedsView } from '../asked-rows.js';
import { secondsOf, type CameraPictures, type PictureRow } from './camera-pictures.js';
import { folderOf, hourOf } from '../count-rows.js';
import { SumsByHour, type HourRow } from '../count-sum.js';
import { DismissedPlaces, type Dismissal } from './dismissed-places.js';
import type { AskedJobRow } from '../job-parts.js';
import {
  optionsFor,
  resultOf,
  toCount,
  type CountedRow,
  type PictureCount,
} from '../picture-counts.js';
import type { Statements } from '../statements.js';

/** A box where the places knew it when its picture was the last one. */
type InPlace = Pick<BoxInPlace, 'place' | 'stay' | 'static'>;

interface PlacedOrDismissed extends InPlace {
  /** It is over a place that its owner dismissed, and is not counted. */
  isDismissed: boolean;
}

/** A box of the question. */
interface PlacedBox extends PlacedOrDismissed {
  class: string;
  regions: string[] | undefined;
}

interface PlacedPicture {
  row: CountedRow;
  boxes: PlacedBox[];
  /** Regions that were asked for; null: none were. */
  regions: string[] | null;
}

/** Seconds since 1970. */
type Span = Pick<Stay, 'since' | 'lastSeen'>;

const NOT_PLACED: InPlace = { place: null, stay: null, static: 'unknown' };

interface StandingPicture {
  taken: string | null;
  task: number;
  image: ImageSize;
  dismissed: readonly Dismissal[];
  /** Regions and masks that are asked for. */
  asked: readonly Region[];
}

interface BestBox extends Detection {
  task: number;
  /** Size of its picture. */
  image: ImageSize;
  /** Regions and masks that its picture was asked for. */
  asked: readonly Region[];
  /** The number of the dismissed place that it lies over; null: none. */
  dismissal: number | null;
}

export interface StandingPlace {
  place: Place;
  /** Static ones, oldest first. */
  stays: Pick<Stay, 'since' | 'lastSeen' | 'seen'>[];
  best: BestBox;
  /** Names of those that the best box lies in. */
  regions: string[];
}

/** The pictures of one camera. */
export class StandingBoxes {
  readonly #asked: Asked;
  readonly #dismissed: DismissedPlaces;
  readonly #places: Places = noPlaces();
  readonly #pictures: PlacedPicture[] = [];
  /** Stays of which it is certain whether they are static. */
  readonly #decided = new Map<number, boolean>();
  /** Stays that turned out to be of the vehicle of another one, which is static. */
  readonly #sameAs = new Map<number, number>();
  /** Static stays as they were when they began and ended. */
  readonly #stays = new Map<number, Span>();
  /** The best picture of each place. */
  readonly #best = new Map<number, BestBox>();

  /** `asked`: with an empty question each job's own. */
  constructor(asked: Asked, dismissed: DismissedPlaces) {
    this.#asked = asked;
    this.#dismissed = dismissed;
  }

  /** Reads all pictures of the camera. Throws `NeedsView`. */
  *read(pictures: CameraPictures, camera: string | null): Generator<undefined, void> {
    yield* pictures.read(camera, (row, job) => {
      this.#add(row, job);
    });
  }

  #add(row: PictureRow, job: AskedJobRow): void {
    const { task, path, taken, takenFrom, failed, view } = row;
    const picture: PlacedPicture = {
      row: { task, path, taken, takenFrom, failed },
      boxes: [],
      regions: null,
    };
    this.#pictures.push(picture);
    if (failed !== 0) return;
    const needed = missingView(this.#asked, view);
    if (needed !== null) throw new NeedsView(needed, job.keyId);
    const all = optionsFor(job, this.#asked);
    const options = optionsOf(this.#asked, all, view);
    // A file lists all stays.
    const rules = { ...rulesOf(options), mostStays: Infinity };
    const found = foundOf(row.found, resultOf(row), all, rules.faintConfidence);
    const { detections, regionCounts } = refineDetections(found, options);
    const dismissed = this.#dismissed.of(job.keyId, row);
    const faint = faintBoxes(found, options, rules, row.descriptors);
    const asked = options.regions ?? [];
    const standing = { taken, task, image: found.image, dismissed, asked };
    const inPlaces = this.#place(standing, faint, rules);
    picture.regions = regionCounts === undefined ? null : Object.keys(regionCounts);
    picture.boxes = detections.map((detection) => {
      const { class: name, box, regions } = detection;
      const { place, stay, static: isStatic } = inPlaces.get(box) ?? NOT_PLACED;
      const isDismissed = dismissalOf(dismissed, detection, found.image) !== undefined;
      return { class: name, regions, place, stay, static: isStatic, isDismissed };
    });
  }

  /** Where the boxes of a picture are. A picture without a time stands nowhere in the order of them. */
  #place(
    { taken, task, image, dismissed, asked }: StandingPicture,
    boxes: DescribedBox[],
    rules: PlaceRules,
  ): ReadonlyMap<Detection['box'], InPlace> {
    const time = secondsOf(taken);
    if (time === null) return new Map();
    const picture = { key: String(task), time, ...image, boxes };
    const placed = foldPicture(this.#places, picture, rules);
    for (const { stay, static: isStatic, sameAs } of placed.decided) {
      this.#decided.set(stay, isStatic);
      if (sameAs !== undefined) this.#sameAs.set(stay, sameAs);
    }
    for (const { stay, since, lastSeen } of placed.changes) {
      this.#stays.set(stay, { since, lastSeen });
    }
    boxes.forEach((box, at) => {
      const place = placed.boxes[at]?.place ?? null;
      const best = place === null ? undefined : this.#best.get(place);
      if (place !== null && box.confidence > (best?.confidence ?? 0)) {
        const dismissal = dismissalOf(dismissed, box, image)?.id ?? null;
        this.#best.set(place, { ...box, task, image, asked, dismissal });
      }
    });
    return new Map(
      boxes.flatMap(({ box }, at) => {
        const inPlace = placed.boxes[at];
        return inPlace === undefined ? [] : [[box, inPlace] as const];
      }),
    );
  }

  /** The places in which a vehicle stood, as they are after the last picture; none whose best box lies in a mask. */
  *places(): Generator<StandingPlace, void> {
    for (const place of this.#places.places) {
      const stays = [...place.ended, ...(place.stay?.isStatic === true ? [place.stay] : [])];
      const best = this.#best.get(place.id);
      const regions = best === undefined ? null : regionsOf(best);
      if (stays.length > 0 && best !== undefined && regions !== null) {
        yield { place, stays, best, regions };
      }
    }
  }

  /** The pictures that are not failed, in order of time, with their boxes in the order of the answer. */
  *pictures(): Generator<{ task: number; boxes: PlacedOrDismissed[] }, void> {
    for (const { row, boxes } of this.#pictures) {
      const { task, failed } = row;
      if (failed === 0) yield { task, boxes: boxes.map((box) => this.#asKnown(box)) };
    }
  }

  /** From when to when the vehicle of each static stay was seen. */
  spans(): ReadonlyMap<number, Span> {
    const open = this.#places.places.flatMap(({ stay }) => (stay?.isStatic === true ? [stay] : []));
    return new Map([...this.#stays, ...open.map((stay) => [stay.id, stay] as const)]);
  }

  /** A box after the last picture. */
  #asKnown({ place, stay, static: first, isDismissed }: PlacedOrDismissed): PlacedOrDismissed {
    if (stay === null) return { place, stay, static: first, isDismissed };
    const isStatic = this.#decided.get(stay) ?? 'unknown';
    return { place, stay: this.#sameAs.get(stay) ?? stay, static: isStatic, isDismissed };
  }

  /** The counts of the pictures in order of time, of the boxes that are chosen. */
  *counts(choice: StaticChoice): Generator<{ row: CountedRow; count: PictureCount }, void> {
    for (const { row, boxes, regions } of this.#pictures) {
      const counted = boxes.filter((box) => this.#isCounted(box, choice));
      const count = toCount(row, {
        classes: Object.fromEntries(countClasses(counted)),
        ...(regions !== null && { regions: countRegions(counted, regions) }),
      });
      yield { row, count };
    }
  }

  #isCounted({ stay, isDismissed }: PlacedBox, choice: StaticChoice): boolean {
    if (isDismissed || choice === 'include') return !isDismissed;
    return (stay !== null && this.#decided.get(stay) === true) === (choice === 'only');
  }
}

/** Sums by folder and hour. Throws `NeedsView`. */
export function* standingSums(
  statements: Statements,
  pictures: CameraPictures,
  asked: Asked,
  choice: StaticChoice,
): Generator<undefined, HourRow[]> {
  const sums = new SumsByHour();
  const dismissed = new DismissedPlaces(statements);
  for (const camera of pictures.cameras) {
    const standing = new StandingBoxes(asked, dismissed);
    yield* standing.read(pictures, camera);
    for (const { row, count } of standing.counts(choice)) {
      const { path, taken, takenFrom } = row;
      sums.of(folderOf({ path }), hourOf(taken)).add({
        ...{ index: 0, path, failed: count.failed, classCounts: count.classes },
        regionCounts: count.regions ?? {},
        taken: taken === null || takenFrom === null ? null : { time: taken, source: takenFrom },
      });
    }
    yield;
  }
  return sums.rows();
}

/** Names of the regions that a box lies in; null: it lies in a mask. */
function regionsOf(best: BestBox): string[] | null {
  const { asked, image } = best;
  const seen = sortIntoRegions(withoutMasked([best], asked, image), asked, image).detections;
  return seen[0]?.regions ?? null;
}

/** A vehicle that is known to stand is seen by a weaker box than one that is asked for. */
export function rulesOf(options: DetectOptions): PlaceRules {
  const confidence = leastThreshold(options);
  const faintConfidence = Math.min(PLACE_RULES.faintConfidence, confidence);
  return { ...PLACE_RULES, confidence, faintConfidence };
}

/** The boxes that may be of a place: of the classes that are asked for, in whatever region. */
export function faintBoxes(
  found: FoundBoxes,
  options: DetectOptions,
  { faintConfidence }: PlaceRules,
  descriptors: PictureRow['descriptors'],
): DescribedBox[] {
  const faint = { ...options, confidence: faintConfidence, classThresholds: {}, regions: null };
  const { detections } = refineDetections(found, faint);
  return describedBoxes(detections, found.detections, descriptors);
}
