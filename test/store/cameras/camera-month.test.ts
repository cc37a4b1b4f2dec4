/** A month of five cameras with thirty faults, through the queue of the store: which are found, and what else is. */
import { expect, test } from 'vitest';
import type { CameraPicture, FindingKind } from '../../../src/cameras/camera-health.js';
import { randomNumbers } from '../../support/random-numbers.js';
import { CAMERAS, SyntheticCamera, type Fault } from '../../support/synthetic-camera.js';
import { DAY, HOUR, RecordedCameras, type TakenPicture } from './recorded-cameras.js';
import { START } from './watched-pictures.js';

const INTERVAL = HOUR / 2;
const MONTH = 30 * DAY;
/** The pictures of so long are one job. */
const JOB = 2 * HOUR;
/** Faults of a camera begin after two weeks, one every third day, and last so long. */
const FIRST = 12 * DAY + 10 * HOUR;
const EVERY = 3 * DAY;
const LASTS = 5 * HOUR;

type Trouble = Fault | 'stuck' | 'silent';
const TROUBLES: [trouble: Trouble, kind: FindingKind][] = [
  ['black', 'covered'],
  ['bag', 'covered'],
  ['blur', 'blurred'],
  ['turn', 'moved'],
  ['stuck', 'frozen'],
  ['silent', 'late'],
];

/** One camera with its six faults, each camera in another order. */
class FaultyCamera {
  readonly folder: string;
  readonly #camera: SyntheticCamera;
  readonly #at: number;
  readonly #random: () => number;
  #last: CameraPicture | null = null;

  constructor(at: number) {
    const [name, traits] = Object.entries(CAMERAS)[at]!;
    this.folder = name;
    this.#camera = new SyntheticCamera(traits);
    this.#at = at;
    this.#random = randomNumbers(traits.seed);
  }

  get faults() {
    return TROUBLES.map((_, number) => {
      const [trouble, kind] = TROUBLES[(number + this.#at) % TROUBLES.length]!;
      const from = FIRST + number * EVERY;
      return { trouble, kind, from, until: from + LASTS };
    });
  }

  /** The pictures of a time, one of twenty of which is missing. */
  *pictures(from: number, until: number): Generator<TakenPicture> {
    for (let slot = from; slot < until; slot += INTERVAL) {
      const time = Math.round(slot + 60 * this.#random());
      if (this.#random() < 0.05) continue;
      const fault = this.faults.find((each) => time >= each.from && time < each.until);
      const picture = this.#pictureOf(time, fault?.trouble ?? null);
      if (picture !== null) yield { folder: this.folder, picture };
    }
  }

  #pictureOf(time: number, trouble: Trouble | null): CameraPicture | null {
    if (trouble === 'silent') return null;
    if (trouble === 'stuck' && this.#last !== null) return { ...this.#last, time };
    const picture = this.#camera.picture(time, trouble === 'stuck' ? null : trouble);
    if (trouble === null) this.#last = picture;
    return picture;
  }
}

interface Finding {
  camera: string;
  kind: FindingKind;
  /** Seconds since `START`. */
  began: number;
}

test('of thirty faults in a month of five cameras most are found, and hardly anything else', async () => {
  await using recorded = await RecordedCameras.opened();
  const cameras = Object.keys(CAMERAS).map((_, at) => new FaultyCamera(at));
  for (let from = 0; from < MONTH; from += JOB) {
    const taken = cameras.flatMap((camera) => [...camera.pictures(from, from + JOB)]);
    await recorded.recordTaken(taken);
    await recorded.check(START + from + JOB + 60, START);
  }
  const told = recorded
    .told()
    .flatMap((each) => ('kind' in each ? [{ ...each, began: each.began - START }] : []));
  const of = (change: string): Finding[] => told.filter((each) => each.change === change);
  const faults = cameras.flatMap(({ folder, faults }) =>
    faults.map((each) => ({ ...each, camera: folder })),
  );
  // A late camera's finding began with its last picture.
  const isOf = (fault: (typeof faults)[number], { camera, kind, began }: Finding) =>
    camera === fault.camera &&
    kind === fault.kind &&
    began > fault.from - HOUR &&
    began < fault.until;
  const isFound = (fault: (typeof faults)[number]) =>
    of('opened').some((each) => isOf(fault, each));
  const missed = faults.filter((fault) => !isFound(fault));
  const others = of('opened').filter((each) => !faults.some((fault) => isOf(fault, each)));
  const name = ({ camera, kind }: Pick<Finding, 'camera' | 'kind'>) => `${camera}: ${kind}`;
  console.log(
    `${faults.length} faults: ${faults.length - missed.length} found, ${missed.length} missed ` +
      `(${missed.map(name).join(', ')}), ${others.length} false findings (${others.map(name).join(', ')})`,
  );
  expect(faults).toHaveLength(30);
  // A blurred picture of bad weather is as sharp as ever by its noise.
  expect(missed.length).toBeLessThanOrEqual(1);
  expect(others.length).toBeLessThanOrEqual(1);
  expect(of('closed')).toHaveLength(of('opened').length);
});
