/**
 * Self-check with a known picture: it finds an engine that loads and runs but detects nothing, or something else than
 * before, before a caller gets a wrong result.
 */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { intersectionOverUnion } from '../../boxes/overlap.js';
import type { Detection } from '../../api/schemas/image.js';
import { DEFAULT_PARAMETERS } from '../../api/options.js';
import type { HeadLayout, NativeModel } from '../../native/contract.js';
import { decodeImage, type Core } from '../../native/core.js';

/** Known boxes must be found at this score and overlap. */
const KNOWN_CONFIDENCE = 0.5;
const LEAST_KNOWN_OVERLAP = 0.7;
/** The same for a part of the picture: a vehicle at its edge has less context around it. */
const PART_CONFIDENCE = 0.25;
/** A box of an earlier run is found again at this one. */
const LEAST_REPEATED_OVERLAP = 0.9;
/** How far a score may move between two runs of one engine before it counts as drift. */
const SCORE_DRIFT = 0.05;
/** Boxes of the first run that later runs must repeat. */
const REMEMBERED = 20;

export interface Picture {
  data: Uint8Array;
  width: number;
  height: number;
}

const box = z.tuple([z.number(), z.number(), z.number(), z.number()]);
const knownPictureSchema = z.object({
  /** File name of the picture, in the folder of this file. */
  image: z.string(),
  boxes: z.array(z.object({ class: z.string(), box })),
});
export type KnownBox = z.infer<typeof knownPictureSchema>['boxes'][number];

export interface KnownPicture {
  picture: Picture;
  boxes: KnownBox[];
}

const ANY_SIZE = { maxPixels: 2 ** 31 - 1, maxSide: 2 ** 31 - 1 };

/** RGB pixels of a picture, made smaller where a side is longer than `longestSide`. */
export async function readPicture(path: string, longestSide?: number): Promise<Picture> {
  if (longestSide === undefined) return decodeImage(await readFile(path), ANY_SIZE);
  const { default: sharp } = await import('sharp');
  const { data, info } = await sharp(path)
    .resize({ width: longestSide, height: longestSide, fit: 'inside', withoutEnlargement: true })
    .removeAlpha()
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

/** A picture and what is on it, from its JSON file. */
export async function readKnownPicture(path: string): Promise<KnownPicture> {
  const { image, boxes } = knownPictureSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  return { picture: await readPicture(join(dirname(path), image)), boxes };
}

/** All boxes of a picture, whatever their score; those that overlap more than `iou` are merged. */
export const runOn = (
  picture: Picture,
  { modelId }: NativeModel,
  core: Pick<Core, 'run'>,
  more: { iou?: number; everyRow?: boolean } = {},
) =>
  core.run({
    modelId,
    path: null,
    pixels: picture,
    kind: 'sync',
    priority: 0,
    deadlineMs: 0,
    ...DEFAULT_PARAMETERS,
    confidence: 0,
    classIds: null,
    ...more,
  });

/** The checks of one model. Feed it runs at confidence 0 (scores strictly above) over all classes. */
export class ModelCheck {
  readonly #known: readonly KnownBox[] | null;
  readonly #layout: HeadLayout;
  #first: readonly Detection[] | null = null;

  /** `known` boxes of the picture; null if they are not known: then later runs must repeat the first one. */
  constructor(known: readonly KnownBox[] | null, layout: HeadLayout) {
    this.#known = known;
    this.#layout = layout;
  }

  /** Null if the run is correct, else what is wrong with it. */
  judge(run: readonly Detection[]): string | null {
    const unfit = unfitness(run, this.#layout);
    if (unfit !== null) return unfit;
    if (this.#known !== null) return judgeKnown(run, this.#known);
    this.#first ??= run.slice(0, REMEMBERED);
    return judgeDrift(run, this.#first);
  }
}

/** A fault that a run on any picture can show; null if there is none. */
function unfitness(run: readonly Detection[], layout: HeadLayout): string | null {
  if (run.length === 0 && layout !== 'final')
    return 'it sees nothing: every score on the self-check picture is 0';
  return run.some(({ confidence, box }) => ![confidence, ...box].every(Number.isFinite))
    ? 'it gives boxes that are not numbers'
    : null;
}

/**
 * The fault of a run over a part of the picture, where `known` lie as a whole and others may be cut; null if there is
 * none.
 */
export function judgePart(
  run: readonly Detection[],
  known: readonly KnownBox[],
  layout: HeadLayout,
): string | null {
  const unfit = unfitness(run, layout);
  if (unfit !== null) return unfit;
  const missed = missedBy(surerThan(PART_CONFIDENCE, run), known);
  if (missed.length === 0) return null;
  return `it misses ${missed.length} of the ${known.length} vehicles on a part of the self-check picture`;
}

function surerThan(least: number, run: readonly Detection[]): Detection[] {
  return run.filter(({ confidence }) => confidence > least);
}

function missedBy(sure: readonly Detection[], known: readonly KnownBox[]): KnownBox[] {
  return known.filter(
    (expected) => !sure.some((found) => isSame(found, expected, LEAST_KNOWN_OVERLAP)),
  );
}

function judgeKnown(run: readonly Detection[], known: readonly KnownBox[]): string | null {
  const sure = surerThan(KNOWN_CONFIDENCE, run);
  const missed = missedBy(sure, known);
  if (missed.length === 0 && sure.length === known.length) return null;
  return (
    `it finds ${sure.length} boxes on the self-check picture, ${known.length - missed.length} of them right; ` +
    `the picture has ${known.length}`
  );
}

function judgeDrift(run: readonly Detection[], first: readonly Detection[]): string | null {
  const repeated = first.filter((before) =>
    run.some(
      (now) =>
        isSame(now, before, LEAST_REPEATED_OVERLAP) &&
        Math.abs(now.confidence - before.confidence) <= SCORE_DRIFT,
    ),
  );
  return repeated.length === first.length
    ? null
    : `its boxes drift: of ${first.length} on the self-check picture at start, ${repeated.length} are still there`;
}

/** Whether the boxes have one class and the same place, to half a pixel or to this overlap. */
function isSame(found: Detection, expected: KnownBox, leastOverlap: number): boolean {
  if (found.class !== expected.class) return false;
  // Boxes clamped to nothing have no overlap, not even with themselves.
  return (
    found.box.every((edge, index) => Math.abs(edge - (expected.box[index] ?? NaN)) < 0.5) ||
    intersectionOverUnion(found.box, expected.box) >= leastOverlap
  );
}
