/**
 * Tasks of Label Studio with the boxes as predictions. The names `label` and `image` must be those of the project's
 * labeling config. A prediction has the score of its least certain box, so that a project sorted by score shows first
 * what needs a look. Failed images are left out.
 */
import type { Detection, ImageResult, ImageSize } from '../api/image.js';
import { rounded, type ExportSource } from './export-source.js';
import { jsonArray } from './json-array.js';

export async function* writeLabelStudio(source: ExportSource): AsyncGenerator<string, void> {
  const { model, fileName } = source;
  yield* jsonArray(source, '', ({ image_path: path, image, detections, model_digest: digest }) => [
    {
      data: { image: localFile(fileName(path)), image_path: path },
      predictions: [prediction(detections, image, versionText(model, digest), OWN_NAMES)],
    },
  ]);
  yield '\n';
}

/** Names of a labelling configuration: of its tags and of its labels. */
interface LabelNames {
  from: string;
  to: string;
  /** Undefined: boxes of this class are left out. */
  labelOf: (detection: Detection) => string | undefined;
}

const OWN_NAMES: LabelNames = {
  from: 'label',
  to: 'image',
  labelOf: (detection) => detection.class,
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
  const shown = detections.filter((detection) => names.labelOf(detection) !== undefined);
  return {
    model_version: version,
    ...(shown.length === 0 ? {} : { score: lowestScore(shown) }),
    result: shown.map((detection, index) => region(detection, index, size, names)),
  };
}

const versionText = (model: string, digest: string | undefined) =>
  digest === undefined ? model : `${model} ${digest}`;

function region(
  detection: Detection,
  index: number,
  size: ImageSize,
  { from, to, labelOf }: LabelNames,
) {
  const { box, confidence } = detection;
  const notes = notesOf(detection);
  return {
    id: `box${index + 1}`,
    type: 'rectanglelabels',
    from_name: from,
    to_name: to,
    original_width: size.width,
    original_height: size.height,
    image_rotation: 0,
    score: rounded(confidence, 6),
    value: { ...percentOf(box, size), rotation: 0, rectanglelabels: [labelOf(detection)] },
    // Shown with the box.
    ...(notes.length === 0 ? {} : { meta: { text: notes } }),
  };
}

function notesOf({ alternative, regions = [] }: Detection): string[] {
  const other = alternative && `or ${alternative.class}, ${rounded(alternative.confidence, 6)}`;
  return [...(other === undefined ? [] : [other]), ...regions.map((name) => `in ${name}`)];
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

/** The address at which Label Studio serves a file beneath its document root. */
function localFile(name: string): string {
  return `/data/local-files/?d=${name.split('/').map(encodeURIComponent).join('/')}`;
}
