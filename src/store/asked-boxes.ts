/** A question, as it is asked of the boxes that the images of jobs keep. */
import { optionsWith, type Question } from '../api/question.js';
import type { DetectOptions } from '../api/options.js';
import type { Region } from '../api/region-rules.js';
import type { ProcessedImage } from '../api/schemas/image.js';
import { foundInResult, narrowingFault } from '../boxes/asked-again.js';
import { unpackFound, type FoundBoxes } from '../boxes/found-boxes.js';
import { leastThreshold, refineDetections } from '../boxes/refine-detections.js';
import { scoreFloorOf, type JobSettings } from './job.js';
import type { StoredFound } from './job-records.js';

/** Plain data: the thread of the store gets it too. */
export interface Asked {
  question: Question;
  /** Regions of the view of the question; null: it has none. */
  viewRegions: readonly Region[] | null;
  /** Regions of the views that results were stored with, by name and version as JSON. */
  storedViews: Readonly<Record<string, readonly Region[]>>;
}

export type Refined = Pick<ProcessedImage, 'detections' | 'truncated' | 'regionCounts' | 'image'>;

/** Options of a job: `own` as it was submitted, `asked` with those of the question. */
export interface OptionsAsked {
  own: DetectOptions;
  asked: DetectOptions;
}

/** Why the boxes of a job cannot answer the question; null if they can. */
export function questionFault(
  settings: Pick<JobSettings, 'options' | 'scoreFloor'>,
  question: Question,
): string | null {
  const { options: own, scoreFloor } = settings;
  const asked = optionsWith(own, question);
  if (scoreFloor === undefined) return narrowingFault(own, asked);
  const floor = scoreFloorOf({ options: own, scoreFloor });
  const least = leastThreshold(asked);
  return least < floor
    ? `it keeps boxes above ${floor}, and a threshold of ${least} is asked for`
    : null;
}

/** The view that a result was stored with, where its regions are needed and missing in `storedViews`; else null. */
export function missingView(
  { question, viewRegions, storedViews }: Asked,
  view: string | null,
): string | null {
  const isNeeded = view !== null && viewRegions === null && !question.regions;
  return isNeeded && storedViews[view] === undefined ? view : null;
}

/** The regions that the boxes of an image are sorted into. */
function regionsOf(
  { viewRegions, storedViews }: Asked,
  { regions }: DetectOptions,
  view: string | null,
): DetectOptions['regions'] {
  if (viewRegions !== null) return viewRegions;
  return (view === null ? undefined : storedViews[view]) ?? regions;
}

/**
 * The boxes of an image that the question asks for. `result` is needed where the image keeps no boxes of its own, as in
 * jobs of earlier releases.
 */
export function refineStored(
  question: Asked,
  options: OptionsAsked,
  stored: StoredFound,
  result: ProcessedImage | null,
): Refined {
  const least = leastThreshold(options.asked);
  const found = foundOf(stored.found, result, options, least);
  return {
    ...refineDetections(found, optionsOf(question, options, stored.view)),
    image: found.image,
  };
}

/** The options of the question for an image, with the regions that its boxes are sorted into. */
export function optionsOf(
  question: Asked,
  { asked }: OptionsAsked,
  view: string | null,
): DetectOptions {
  const regions = regionsOf(question, asked, view);
  return regions === asked.regions ? asked : { ...asked, regions };
}

/** The boxes above `least` that an image keeps. */
export function foundOf(
  packed: StoredFound['found'],
  result: ProcessedImage | null,
  { own, asked }: OptionsAsked,
  least: number,
): FoundBoxes {
  if (packed !== null) return unpackFound(packed, least);
  if (result === null) throw new Error('An image has neither boxes nor a result.');
  return foundInResult(result, own, asked);
}
