/**
 * Tasks of Label Studio with the boxes as predictions. The names `label` and `image` must be those of the project's
 * labeling config. A prediction has the score of its least certain box, so that a project sorted by score shows first
 * what needs a look. Failed images are left out.
 */
import { createHash } from 'node:crypto';
import type { Detection, ImageResult, ImageSize } from '../api/schemas/image.js';
import { rounded } from '../base/rounded.js';
import type { ExportSource, ProcessedEntry } from './export-source.js';
import { jsonArray } from './json-array.js';

export async function* writeLabelStudio(source: ExportSource): AsyncGenerator<string, void> {
  const { model, fileName } = source;
  const addressOf = addressesAt(LOCAL_FILES);
  const rules: TaskRules = {
    model,
    names: { field: 'image', ...OWN_NAMES },
    addressOf: (path) => addressOf(fileName(path)),
  };
  yield* jsonArray(source, '', (image) => [taskOf(image, rules)]);
  yield '\n';
}

export interface TaskRules {
  model: string;
  /** `field`: the field of a task's data that has the picture. */
  names: LabelNames & { field: string };
  /** Where Label Studio gets a picture from. */
  addressOf: (imagePath: string) => string;
}

export function taskOf(image: ProcessedEntry, { model, names, addressOf }: TaskRules) {
  const { image_path: path, image: size, detections, model_digest: digest } = image;
  return {
    data: { [names.field]: addressOf(path), image_path: path, [TASK_KEY]: taskKeyOf(image) },
    predictions: [prediction(detections, size, versionText(model, digest), names)],
  };
}

/** The field of a task's data that tells its picture from all others. */
export const TASK_KEY = 'lattice_key';

const KEY_DIGITS = 32;

/**
 * The same for the same file at the same path, whichever job and model it was run by; another one once the file is
 * written anew. Where the file is not known, the path decides alone.
 */
export function taskKeyOf({ image_path: path, file }: ProcessedEntry): string {
  const facts = JSON.stringify([path, file?.size ?? null, file?.modified_at ?? null]);
  return createHash('sha256').update(facts).digest('hex').slice(0, KEY_DIGITS);
}

/** Names of a labelling configuration: of its tags and of its labels. */
export interface LabelNames {
  /** The tag of the picture. */
  to: string;
  /** The tag of a class's boxes and its label there; undefined: boxes of this class are left out. */
  labelOf: (detection: Pick<Detection, 'class'>) => { from: string; label: string } | undefined;
}

const OWN_NAMES: LabelNames = {
  to: 'image',
  labelOf: (detection) => ({ from: 'label', label: detection.class }),
};

export function predictionOf(
  { image, detections, model, modelDigest }: ImageResult,
  names: LabelNames,
) {
  return prediction(detections, image, versionText(model, modelDigest), names);
}

function prediction(
  detections: readonly Detection[],
  size: ImageSize,
  version: string,
  names: LabelNames,
) {
  const shown = detections.flatMap((detection) => {
    const place = names.labelOf(detection);
    return place === undefined ? [] : [{ ...detection, place }];
  });
  return {
    model_version: version,
    ...(shown.length === 0 ? {} : { score: lowestScore(shown) }),
    result: shown.map((labelled, index) => region(labelled, index, size, names.to)),
  };
}

const versionText = (model: string, digest: string | undefined) =>
  digest === undefined ? model : `${model} ${digest}`;

function region(
  labelled: Detection & { place: { from: string; label: string } },
  index: number,
  size: ImageSize,
  to: string,
) {
  const { box, confidence, place } = labelled;
  const notes = notesOf(labelled);
  return {
    id: `box${index + 1}`,
    type: 'rectanglelabels',
    from_name: place.from,
    to_name: to,
    original_width: size.width,
    original_height: size.height,
    image_rotation: 0,
    score: rounded(confidence, 6),
    value: { ...percentOf(box, size), rotation: 0, rectanglelabels: [place.label] },
    // Shown with the box.
    ...(notes.length === 0 ? {} : { meta: { text: notes } }),
  };
}

function notesOf({ alternative, regions = [], stay }: Detection): string[] {
  const other = alternative && `or ${alternative.class}, ${rounded(alternative.confidence, 6)}`;
  return [
    ...(other === undefined ? [] : [other]),
    ...regions.map((name) => `in ${name}`),
    ...(stay === undefined ? [] : [`stands since ${stay.since}`]),
  ];
}

/** Corners in pixels -> left, top, width, height in percent of the image. */
export function percentOf([x1, y1, x2, y2]: Detection['box'], { width, height }: ImageSize) {
  return {
    x: rounded((x1 / width) * 100, 6),
    y: rounded((y1 / height) * 100, 6),
    width: rounded(((x2 - x1) / width) * 100, 6),
    height: rounded(((y2 - y1) / height) * 100, 6),
  };
}

function lowestScore(detections: readonly Detection[]): number {
  return rounded(Math.min(...detections.map(({ confidence }) => confidence)), 6);
}

/** The address at which Label Studio serves files beneath its document root. */
export const LOCAL_FILES = '/data/local-files/?d=';

/** Addresses of files by their names: `start`, and the name with its characters escaped. */
export function addressesAt(start: string): (name: string) => string {
  return (name) => `${start}${name.split('/').map(encodeURIComponent).join('/')}`;
}
