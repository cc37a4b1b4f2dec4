/** What the runs of one model are measured against, on each of its devices. */
import { Canary, isSame, unfitness, type KnownBox } from './canary.js';
import type { Detection } from '../../contract/image-result.js';

/** Engines of different GPUs compute in different orders: boxes and scores of one picture come this close. */
const LEAST_ALIKE_OVERLAP = 0.7;
const ALIKE_SCORES = 0.1;
const LEAST_ALIKE_SHARE = 0.75;
/** Boxes of a run that are compared: the surest. */
const COMPARED = 20;

const UNDECIDED =
  'its boxes are not those of the other devices, and no majority says whose are right';
const OUTVOTED = 'its boxes are not those that most devices agree on';

export interface DeviceRun {
  device: number;
  run: readonly Detection[];
}

export interface Admission {
  /** What is wrong, by the index of the device; null where nothing is. */
  faults: Map<number, string | null>;
  /** What is wrong with all of them where devices differ and no majority says which is right. */
  undecided: string | null;
}

/**
 * A model that comes with known boxes is measured against them. Of one without, nobody knows the right answer, so its
 * devices vote: runs that more than half of them agree on are right, and later each device is measured against its own
 * first run. A single device is taken at its word.
 *
 * Where no more than half agree (two that differ, two against two), none is trusted: a model that is not served is seen
 * by its operator, boxes of the wrong half are not. The CPU is no judge here, because its engine is not open beside
 * GPUs: it would take seconds and the memory of a model, and answers in another precision.
 */
export class ModelCanaries {
  readonly #known: readonly KnownBox[] | null;
  /** Of a model without known boxes. */
  readonly #own = new Map<number, Canary>();
  /** For devices that had no run to be measured against. */
  #common: Canary;

  constructor(known: readonly KnownBox[] | null) {
    this.#known = known;
    this.#common = new Canary(known);
  }

  /** Judges the first runs, one of each device. Those `doubted` for another reason vote only where the
   * others cannot decide. */
  admit(runs: readonly DeviceRun[], doubted: ReadonlySet<number>): Admission {
    const faults = new Map<number, string | null>();
    if (this.#known !== null) {
      for (const { device, run } of runs) faults.set(device, this.#common.judge(run));
      return { faults, undecided: null };
    }
    for (const { device, run } of runs) faults.set(device, unfitness(run));
    const fit = runs.filter(({ device }) => faults.get(device) === null);
    const sound = fit.filter(({ device }) => !doubted.has(device));
    const elected = elect(sound) ?? elect(fit);
    if (elected === null) {
      const undecided = fit.length > 0 ? UNDECIDED : null;
      for (const { device } of fit) faults.set(device, undecided);
      return { faults, undecided };
    }
    this.#common = new Canary(null, elected);
    for (const { device, run } of fit) {
      if (areAlike(run, elected)) this.#own.set(device, new Canary(null, run));
      else faults.set(device, OUTVOTED);
    }
    return { faults, undecided: null };
  }

  /** What is wrong with a later run of the device; null when nothing is. */
  judge(device: number, run: readonly Detection[]): string | null {
    return (this.#own.get(device) ?? this.#common).judge(run);
  }
}

/** The run that most are like; null where that is not more than half of them. */
function elect(voters: readonly DeviceRun[]): readonly Detection[] | null {
  const votes = voters.map(({ run }) => voters.filter((other) => areAlike(run, other.run)).length);
  const most = Math.max(0, ...votes);
  const elected = voters[votes.indexOf(most)];
  return elected !== undefined && 2 * most > voters.length ? elected.run : null;
}

function areAlike(one: readonly Detection[], other: readonly Detection[]): boolean {
  return shareFound(one, other) >= LEAST_ALIKE_SHARE && shareFound(other, one) >= LEAST_ALIKE_SHARE;
}

function shareFound(run: readonly Detection[], other: readonly Detection[]): number {
  const compared = run.slice(0, COMPARED);
  const found = compared.filter((box) =>
    other.some(
      (partner) =>
        isSame(partner, box, LEAST_ALIKE_OVERLAP) &&
        Math.abs(partner.confidence - box.confidence) <= ALIKE_SCORES,
    ),
  );
  return found.length / compared.length;
}
