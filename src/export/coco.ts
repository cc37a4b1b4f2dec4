/**
 * A COCO dataset: images, then their annotations, then what is known at the end. Images are numbered 1 to N in the order
 * of the job, annotations from 1 (evaluators take 0 for "no match"), categories 1 to N in the order of the model.
 * Failed images have no size, which COCO requires, and are left out; `info.failed_images` counts them.
 */
import { ClassNumbers } from './class-numbers.js';
import { cocoBox } from './coco-box.js';
import { isProcessed, type ExportSource, type ProcessedEntry } from './export-source.js';
import { JsonList } from './json-list.js';
import { rounded } from './rounded.js';

/** Reads the pages twice: the format has one list of all images and one of all boxes. */
export async function* writeCoco(source: ExportSource): AsyncGenerator<string, void> {
  const classes = new ClassNumbers(source.classes);
  const info = yield* writeImages(source);
  yield* writeAnnotations(source, classes);
  const categories = classes.names.map((name, number) => ({ id: number + 1, name }));
  yield `],\n"categories":${JSON.stringify(categories)},\n"licenses":[],\n"info":${JSON.stringify(info)}}\n`;
}

async function* writeImages({ jobId, model, fileName, pages }: ExportSource) {
  const list = new JsonList();
  let id = 0;
  let failed = 0;
  let text = '{"images":[\n';
  for await (const page of pages()) {
    const processed = page.filter(isProcessed);
    failed += page.length - processed.length;
    text += list.add(
      processed.map(({ image_path: path, image: { width, height } }) => {
        id += 1;
        return { id, file_name: fileName(path), width, height };
      }),
    );
    yield text;
    text = '';
  }
  yield `${text}],\n"annotations":[\n`;
  return { description: 'Detections of lattice-core', job_id: jobId, model, failed_images: failed };
}

async function* writeAnnotations({ pages }: ExportSource, classes: ClassNumbers) {
  const list = new JsonList();
  const annotations = new Annotations(classes);
  for await (const page of pages()) {
    yield list.add(page.filter(isProcessed).flatMap((image) => annotations.of(image)));
  }
}

class Annotations {
  readonly #classes: ClassNumbers;
  #image = 0;
  #annotation = 0;

  constructor(classes: ClassNumbers) {
    this.#classes = classes;
  }

  of({ detections }: ProcessedEntry): object[] {
    this.#image += 1;
    return detections.map(({ box, confidence, class: name }) => {
      const bbox = cocoBox(box);
      return {
        id: (this.#annotation += 1),
        image_id: this.#image,
        category_id: this.#classes.of(name) + 1,
        bbox,
        area: rounded(bbox[2] * bbox[3], 3),
        iscrowd: 0,
        segmentation: [],
        score: rounded(confidence, 6),
      };
    });
  }
}
