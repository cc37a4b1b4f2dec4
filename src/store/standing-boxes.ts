/**
 * Which boxes of the pictures of a camera are of vehicles that stand, from the boxes that jobs keep. It is known after
 * the last picture of a stay only, so all pictures of the camera are read before the first one is counted.
 */
import type { Detection, ImageSize } from '../api/schemas/image.js';
import { countClasses, countRegions } from '../boxes/class-counts.js';
import { leastThreshold, refineDetections } from '../boxes/refine-detections.js';
import { dismissalOf } from '../cameras/dismissal.js';
import {
  foldPicture,
  noPlaces,
  PLACE_RULES,
  type Place,
  type PlaceRules,
  type Places,
} from '../cameras/place-tracker.js';
import type { Stay } from '../cameras/stays.js';
import type { StaticChoice } from '../api/job-values.js';
import type { DetectOptions } from '../api/options.js';
import { foundOf, missingView, optionsOf, type Asked } from './asked-boxes.js';
import { NeedsView } from './asked-rows.js';
import { secondsOf, type CameraPictures, type PictureRow } from './camera-pictures.js';
import { folderOf, hourOf } from './count-rows.js';
import { SumsByHour, type HourRow } from './count-sum.js';
import { DismissedPlaces, type Dismissal } from './dismissed-places.js';
import type { AskedJobRow } from './job-parts.js';
import {
  optionsFor,
  resultOf,
  toCount,
  type CountedRow,
  type PictureCount,
} from './picture-counts.js';
import type { Statements } from './statements.js';

/** A box of the question. */
interface PlacedBox {
  class: string;
  regions: string[] | undefined;
  /** The stay that it is of; null: none. */
  stay: number | null;
}

interface PlacedPicture {
  row: CountedRow;
  boxes: PlacedBox[];
  /** Regions that were asked for; null: none were. */
  regions: string[] | null;
}

interface StandingPicture {
  taken: string | null;
  task: number;
  image: ImageSize;
  dismissed: readonly Dismissal[];
}

interface BestBox extends Detection {
  task: number;
  /** Size of its picture. */
  image: ImageSize;
  /** The number of the dismissed place that it lies over; null: none. */
  dismissal: number | null;
}

export interface StandingPlace {
  place: Place;
  /** Static ones, oldest first. */
  stays: Pick<Stay, 'since' | 'lastSeen' | 'seen'>[];
  best: BestBox;
}

/** The pictures of one camera. */
export class StandingBoxes {
  readonly #asked: Asked;
  readonly #dismissed: DismissedPlaces;
  readonly #places: Places = noPlaces();
  readonly #pictures: PlacedPicture[] = [];
  /** Stays of which it is certain that they are static. */
  readonly #static = new Set<number>();
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
    const rules = rulesOf(options);
    const found = foundOf(row.found, resultOf(row), all, rules.faintConfidence);
    const { detections, regionCounts } = refineDetections(found, options);
    const dismissed = this.#dismissed.of(job.keyId, row);
    const isDismissed = (box: Detection) => dismissalOf(dismissed, box, found.image) !== undefined;
    const faint = faintBoxes(found, options, rules);
    const stays = this.#staysOf({ taken, task, image: found.image, dismissed }, faint, rules);
    picture.regions = regionCounts === undefined ? null : Object.keys(regionCounts);
    const counted = detections.filter((box) => !isDismissed(box));
    picture.boxes = counted.map(({ class: name, box, regions }) => ({
      class: name,
      regions,
      stay: stays.get(box) ?? null,
    }));
  }

  /** The stays of the boxes of a picture. A picture without a time stands nowhere in the order of them. */
  #staysOf(
    { taken, task, image, dismissed }: StandingPicture,
    boxes: Detection[],
    rules: PlaceRules,
  ): ReadonlyMap<Detection['box'], number | null> {
    const time = secondsOf(taken);
    if (time === null) return new Map();
    const picture = { key: String(task), time, ...image, boxes };
    const placed = foldPicture(this.#places, picture, rules);
    for (const { stay, static: isStatic } of placed.decided) if (isStatic) this.#static.add(stay);
    boxes.forEach((box, at) => {
      const place = placed.boxes[at]?.place ?? null;
      const best = place === null ? undefined : this.#best.get(place);
      if (place !== null && box.confidence > (best?.confidence ?? 0)) {
        const dismissal = dismissalOf(dismissed, box, image)?.id ?? null;
        this.#best.set(place, { ...box, task, image, dismissal });
      }
    });
    return new Map(boxes.map(({ box }, at) => [box, placed.boxes[at]?.stay ?? null]));
  }

  /** The places in which a vehicle stood, as they are after the last picture. */
  *places(): Generator<StandingPlace, void> {
    for (const place of this.#places.places) {
      const stays = [...place.ended, ...(place.stay?.isStatic === true ? [place.stay] : [])];
      const best = this.#best.get(place.id);
      if (stays.length > 0 && best !== undefined) yield { place, stays, best };
    }
  }

  /** The counts of the pictures in order of time, of the boxes that are chosen. */
  *counts(choice: StaticChoice): Generator<{ row: CountedRow; count: PictureCount }, void> {
    for (const { row, boxes, regions } of this.#pictures) {
      const counted = boxes.filter(({ stay }) => this.#isCounted(stay, choice));
      const count = toCount(row, {
        classes: Object.fromEntries(countClasses(counted)),
        ...(regions !== null && { regions: countRegions(counted, regions) }),
      });
      yield { row, count };
    }
  }

  #isCounted(stay: number | null, choice: StaticChoice): boolean {
    if (choice === 'include') return true;
    return (stay !== null && this.#static.has(stay)) === (choice === 'only');
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

/** A vehicle that is known to stand is seen by a weaker box than one that is asked for. */
function rulesOf(options: DetectOptions): PlaceRules {
  const confidence = leastThreshold(options);
  const faintConfidence = Math.min(PLACE_RULES.faintConfidence, confidence);
  return { ...PLACE_RULES, confidence, faintConfidence };
}

/** The boxes that may be of a place: of the classes that are asked for, in whatever region. */
function faintBoxes(
  found: Parameters<typeof refineDetections>[0],
  options: DetectOptions,
  { faintConfidence }: PlaceRules,
): Detection[] {
  const faint = { ...options, confidence: faintConfidence, classThresholds: {}, regions: null };
  return refineDetections(found, faint).detections;
}
