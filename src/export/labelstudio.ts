/**
 * Tasks of Label Studio with the boxes as predictions. The names `label` and `image` must be those of the project's
 * labeling config. A prediction has the score of its least certain box, so that a project sorted by score shows first
 * what needs a look. Failed images are left out.
 */
import type { Detection, ImageResult, ImageSize } from '../api/schemas/image.js';
import { rounded } from '../base/rounded.js';
import type { ExportSource } from './export-source.js';
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

/** The address at which Label Studio serves a file beneath its document root. */
function localFile(name: string): string {
  return `/data/local-files/?d=${name.split('/').map(encodeURIComponent).join('/')}`;
}
