/** Does one image give the same boxes whatever runs beside it: in every batch size, lane and slot? */
import { join } from 'node:path';
import type { CoreTask } from '../../../src/native/core.js';
import type { Answer } from '../answer.js';
import { decodedPhoto, type Pixels } from '../photos.js';
import { mainModel, type Plan } from '../plan.js';
import { openRig, pixelTask } from '../rig.js';

/** Images in the air at once, in turn: slices of every batch size come of them, full ones and padded ones. */
const WAVES = [1, 2, 3, 5, 8, 13, 32, 7, 64, 1, 24, 4, 16];
/** Low, for many boxes. */
const CONFIDENCE = 0.01;
const NONE = { atMost: 0 };

type Kind = CoreTask['kind'];

export default async function sameness(plan: Plan): Promise<Answer> {
  await using rig = openRig(plan);
  const planned = mainModel(plan);
  const model = await rig.core.loadModel(planned.file);
  const ask = (kind: Kind, pixels: Pixels) =>
    rig.core.run({ ...pixelTask(model, kind, pixels), confidence: CONFIDENCE });
  const photos = await Promise.all(
    [...plan.photos[0]!.files, plan.photos[1]!.files[0]!].map((file) =>
      decodedPhoto(join(plan.photoRoot, file)),
    ),
  );
  const first = await firstWithBoxes(photos, (pixels) => ask('sync', pixels));
  if (first === null) throw new Error(`${planned.name} finds nothing in ${photos.length} photos.`);
  const { image, boxes: expected } = first;
  const beside = photos.findLast((other) => other !== image)!;
  const found = { same: 0, differing: 0, batches: new Map<number, number>() };
  for (let wave = 0; found.same + found.differing < plan.effort.repeats; wave += 1) {
    const images = Math.min(
      WAVES[wave % WAVES.length]!,
      plan.effort.repeats - found.same - found.differing,
    );
    const kind = wave % 3 === 0 ? 'sync' : 'async';
    const neighbours = Array.from({ length: Math.floor(images / 2) }, () => ask(kind, beside));
    const results = await Promise.all(Array.from({ length: images }, () => ask(kind, image)));
    await Promise.all(neighbours);
    for (const { batch, boxes } of results) {
      found[equal(boxes, expected) ? 'same' : 'differing'] += 1;
      found.batches.set(batch, (found.batches.get(batch) ?? 0) + 1);
    }
  }
  const sizes = [...found.batches].sort(([a], [b]) => a - b);
  const times = found.same + found.differing;
  return {
    title: 'The same image, the same boxes',
    figures: [
      {
        what: `${planned.name}, results that differ in a bit, of ${times}`,
        value: found.differing,
        unit: 'results',
        ratio: found.differing,
        goal: NONE,
      },
      { what: 'sizes of their slices', value: sizes.length, unit: 'sizes' },
    ],
    notes: [
      `${expected.length / 6} boxes were compared bit by bit; another photo ran in the same slices, and both lanes took turns.`,
    ],
    charts: [
      {
        name: 'sameness',
        title: `Results by size of their slice, ${times} of one image`,
        unit: 'results',
        kind: 'bars',
        categories: sizes.map(([batch]) => `${batch}`),
        series: [{ name: 'results', values: sizes.map(([, count]) => count) }],
      },
    ],
  };
}

async function firstWithBoxes(
  photos: readonly Pixels[],
  ask: (pixels: Pixels) => Promise<{ boxes: Float32Array }>,
): Promise<{ image: Pixels; boxes: Float32Array } | null> {
  for (const image of photos) {
    const { boxes } = await ask(image);
    if (boxes.length > 0) return { image, boxes };
  }
  return null;
}

function equal(a: Float32Array, b: Float32Array): boolean {
  const bytes = (list: Float32Array) => Buffer.from(list.buffer, list.byteOffset, list.byteLength);
  return bytes(a).equals(bytes(b));
}
