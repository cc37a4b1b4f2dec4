/**
 * COCO: a dataset (images, their annotations, then what is known at the end), and results, for evaluation against a
 * dataset. Images are numbered 1 to N in the order of the job, annotations from 1 (evaluators take 0 for "no match"),
 * categories 1 to N in the order of the model. Failed images have no size, which COCO requires, and are left out;
 * `info.failed_images` counts them.
 */
import type { Detection } from '../api/schemas/image.js';
import { rounded } from '../base/rounded.js';
import { ClassNumbers, type ExportSource } from './export-source.js';
import { jsonArray } from './json-array.js';

/** Reads the pages twice: the format has one list of all images and one of all boxes. */
export async function* writeCoco(source: ExportSource): AsyncGenerator<string, void> {
  const { jobId, model, fileName } = source;
  const classes = new ClassNumbers(source.classes);
  let images = 0;
  const failed = yield* jsonArray(
    source,
    '{"images":',
    ({ image_path: path, image: { width, height }, model_digest, precision }) => {
      images += 1;
      return [{ id: images, file_name: fileName(path), width, height, model_digest, precision }];
    },
  );
  let imageId = 0;
  let annotations = 0;
  yield* jsonArray(source, ',\n"annotations":', ({ detections }) => {
    imageId += 1;
    return detections.map((detection) => {
      const { box, confidence, class: name, alternative, regions } = detection;
      const bbox = cocoBox(box);
      annotations += 1;
      return {
        id: annotations,
        image_id: imageId,
        category_id: classes.of(name) + 1,
        bbox,
        area: rounded(bbox[2] * bbox[3], 3),
        iscrowd: 0,
        segmentation: [],
        score: rounded(confidence, 6),
        alternative: alternative && {
          class: alternative.class,
          score: rounded(alternative.confidence, 6),
        },
        regions,
        static: detection.static,
        stay: detection.stay,
      };
    });
  });
  const categories = classes.names.map((name, number) => ({ id: number + 1, name }));
  const description = 'Detections of lattice-core';
  const info = { description, job_id: jobId, model, failed_images: failed };
  yield `,\n"categories":${JSON.stringify(categories)},\n"licenses":[],\n"info":${JSON.stringify(info)}}\n`;
}

/** The boxes with their scores. `image_id` and `category_id` are those of the dataset of the same job. */
export async function* writeCocoResults(source: ExportSource): AsyncGenerator<string, void> {
  const classes = new ClassNumbers(source.classes);
  let imageId = 0;
  yield* jsonArray(source, '', ({ detections }) => {
    imageId += 1;
    return detections.map(({ box, confidence, class: name }) => ({
      image_id: imageId,
      category_id: classes.of(name) + 1,
      bbox: cocoBox(box),
      score: rounded(confidence, 6),
    }));
  });
  yield '\n';
}

/** Corners -> left, top, width, height in pixels, to a thousandth. */
function cocoBox([x1, y1, x2, y2]: Detection['box']): [number, number, number, number] {
  return [rounded(x1, 3), rounded(y1, 3), rounded(x2 - x1, 3), rounded(y2 - y1, 3)];
}
