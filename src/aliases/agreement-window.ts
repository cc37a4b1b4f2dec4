/** The latest pictures that a model and its shadow have both looked at, and what their boxes say. */
import { compareBoxes, type ComparedBox } from '../boxes/changes.js';
import type { LatticeError } from '../api/errors.js';
import type { Detection, ImageResult, ImageSize } from '../api/schemas/image.js';
import type { StoredAlias } from '../store/alias-rows.js';
import type { DetectRequest } from '../execution/detector.js';
import { agreementOf, type Agreement, type PairedPicture } from '../boxes/agreement.js';

/** Pictures that a report is about. */
const MOST_PICTURES = 1_000;
/** Pictures that decide whether the shadow is flagged, and boxes that they must have. */
const LATEST_PICTURES = 50;
const LEAST_BOXES = 20;
/** Below this share of boxes in agreement. */
const LEAST_SHARE = 0.9;

export interface ShadowAgreement extends Agreement<ComparedPicture> {
  /** Pictures that the shadow did not look at since the service was busy, since the start. */
  dropped: number;
  /** Pictures on which the shadow has failed, since the start, and why it did last. */
  failed: number;
  lastError: LatticeError | null;
  /** Share of agreement over the boxes of the latest pictures; null while these have too few to judge. */
  latestShare: number | null;
  /** True: the agreement is lower than it should be. */
  flagged: boolean;
  /** Mean of the network, in milliseconds. */
  modelMs: number;
  shadowMs: number;
}

/** A picture that both have looked at. */
export interface ComparedPicture {
  path: string;
  size: ImageSize;
  /** Compared once: a page may ask for the report every few seconds. */
  boxes: ComparedBox<Detection>[];
  keyId: string | null;
  /** Digests or names of the files of both models. */
  files: string;
  modelMs: number;
  shadowMs: number;
}

/** The alias and the two models that a report is about. */
export type AgreedAlias = Pick<StoredAlias, 'name' | 'model' | 'shadow'>;

/** Whether they stand for the same two models. */
export const isAlike = (one: AgreedAlias, other: AgreedAlias): boolean =>
  one.name === other.name && one.model === other.model && one.shadow === other.shadow;

export class AgreementWindow {
  readonly alias: AgreedAlias;
  dropped = 0;
  #failed = 0;
  #lastError: LatticeError | null = null;
  #pictures: ComparedPicture[] = [];
  /** Share of agreement over the latest pictures; null while they have too few boxes. */
  latestShare: number | null = null;

  constructor({ name, model, shadow }: AgreedAlias) {
    this.alias = { name, model, shadow };
  }

  get isFlagged(): boolean {
    return this.latestShare !== null && this.latestShare < LEAST_SHARE;
  }

  add({ path, keyId }: DetectRequest, model: ImageResult, shadow: ImageResult): void {
    this.#pictures.push({
      path,
      size: model.image,
      keyId: keyId ?? null,
      files: `${fileOf(model)} ${fileOf(shadow)}`,
      boxes: compareBoxes(model.detections, shadow.detections),
      modelMs: model.timingsMs.inference,
      shadowMs: shadow.timingsMs.inference,
    });
    if (this.#pictures.length > MOST_PICTURES) this.#pictures.shift();
    const { all, share } = agreementOf(paired(this.#ofPresentFiles().slice(-LATEST_PICTURES)), 0);
    this.latestShare = all.first + all.second < LEAST_BOXES ? null : share;
  }

  fail(error: LatticeError): void {
    this.#failed += 1;
    this.#lastError = error;
  }

  /** A file that was replaced is another model: its pictures say nothing of the one that there is now. */
  #ofPresentFiles(): ComparedPicture[] {
    const files = this.#pictures.at(-1)?.files;
    return this.#pictures.filter((each) => each.files === files);
  }

  /** Pictures of other API keys count, and are not named. */
  report(keyId: string | null): ShadowAgreement {
    const pictures = this.#ofPresentFiles();
    const own = pictures.filter((each) => each.keyId === keyId);
    // A camera may write the same name again and again: its newest picture is the one that can be looked at.
    const newest = new Map(own.map((each) => [each.path, each]));
    return {
      ...agreementOf(paired(pictures), 0),
      least: agreementOf(paired([...newest.values()]), 0).least,
      dropped: this.dropped,
      failed: this.#failed,
      lastError: this.#lastError,
      latestShare: this.latestShare,
      flagged: this.isFlagged,
      modelMs: mean(pictures.map(({ modelMs }) => modelMs)),
      shadowMs: mean(pictures.map(({ shadowMs }) => shadowMs)),
    };
  }
}

const fileOf = ({ quantizedFrom, modelDigest }: ImageResult) => quantizedFrom ?? modelDigest ?? '';

const paired = (pictures: readonly ComparedPicture[]): PairedPicture<ComparedPicture>[] =>
  pictures.map((picture) => ({ picture, boxes: picture.boxes }));

function mean(numbers: readonly number[]): number {
  return numbers.length === 0 ? 0 : numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}
