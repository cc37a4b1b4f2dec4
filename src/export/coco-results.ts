/**
 * COCO results: the boxes with their scores, for evaluation against a dataset. `image_id` and `category_id` are those of
 * the `coco` export of the same job. Failed images are left out.
 */
import { ClassNumbers } from './class-numbers.js';
import { cocoBox } from './coco-box.js';
import { isProcessed, type ExportSource } from './export-source.js';
import { JsonList } from './json-list.js';
import { rounded } from './rounded.js';

export async function* writeCocoResults(source: ExportSource): AsyncGenerator<string, void> {
  const classes = new ClassNumbers(source.classes);
  const list = new JsonList();
  let imageId = 0;
  let text = '[\n';
  for await (const page of source.pages()) {
    text += list.add(
      page.filter(isProcessed).flatMap(({ detections }) => {
        imageId += 1;
        return detections.map(({ box, confidence, class: name }) => ({
          image_id: imageId,
          category_id: classes.of(name) + 1,
          bbox: cocoBox(box),
          score: rounded(confidence, 6),
        }));
      }),
    );
    yield text;
    text = '';
  }
  yield `${text}]\n`;
}
