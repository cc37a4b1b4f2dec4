/**
 * Does one image give the same boxes whatever runs beside it, for sync and async images and in every slot: bit by bit
 * in batches of one size, and but for rounding in those of another? TensorRT times each batch size's kernels on its own
 * and may choose others, which add up in another order.
 */
import { join } from 'node:path';
import { detectionsFrom } from '../../../src/boxes/raw-detections.js';
import type { CoreTask } from '../../../src/native/core.js';
import { compare, type PhotoPair } from '../../accuracy/box-agreement.js';
import type { Answer, Figure } from '../answer.js';
import { decodedPhoto, type Pixels } from '../photos.js';
import { mainModel, type Plan } from '../plan.js';
import { loadWhole, openRig, pixelTask } from '../rig.js';

/** Images in flight at once, wave by wave: they give batches of every batch size, full ones and padded ones. */
const WAVES = [1, 2, 3, 5, 8, 13, 32, 7, 64, 1, 24, 4, 16];
/** Low, for many boxes. */
const CONFIDENCE = 0.01;
const NONE = { atMost: 0 };
/**
 * Overlap of partners in batches of different sizes, as against the CPU engine. Weaker boxes may have a partner that is
 * weaker still.
 */
const OVERLAP = 0.9;
const FLOOR = 0.1;
const SHARE_GOAL = { atLeast: 0.995 };
const SCORE_GOAL = { atMost: 0.02 };

type Kind = CoreTask['kind'];

export default async function sameness(plan: Plan): Promise<Answer> {
  await using rig = openRig(plan);
  const planned = mainModel(plan);
  const model = await loadWhole(rig.core, planned.file);
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
  const sizes = new Map<number, Size>();
  for (let times = 0, wave = 0; times < plan.effort.repeats; wave += 1) {
    const images = Math.min(WAVES[wave % WAVES.length]!, plan.effort.repeats - times);
    times += images;
    const kind = wave % 3 === 0 ? 'sync' : 'async';
    const neighbours = Array.from({ length: Math.floor(images / 2) }, () => ask(kind, beside));
    const results = await Promise.all(Array.from({ length: images }, () => ask(kind, image)));
    await Promise.all(neighbours);
    for (const { batch, boxes } of results) {
      const size = sizes.get(batch) ?? { boxes, same: 0, differing: 0 };
      sizes.set(batch, size);
      size[equal(boxes, size.boxes) ? 'same' : 'differing'] += 1;
    }
  }
  const inOrder = [...sizes].sort(([a], [b]) => a - b);
  const found = inOrder.map(([batch, { boxes }]) => ({
    photo: `${batch}`,
    expected: detectionsFrom(expected, model.names),
    found: detectionsFrom(boxes, model.names),
  }));
  return {
    title: 'The same image, the same boxes',
    figures: [...withinSizes(planned.name, inOrder), ...betweenSizes(planned.name, found)],
    notes: [
      `${expected.length / 6} boxes were compared bit by bit with those of the first batch as large; another photo ran in the same batches, and sync and async images took turns.`,
      `Between batches of different sizes partners have the same class and overlap by ${OVERLAP} (IoU); boxes that score more than ${FLOOR} count.`,
    ],
    charts: [
      {
        name: 'sameness',
        title: `Results by size of their batch, ${plan.effort.repeats} of one image`,
        unit: 'results',
        kind: 'bars',
        categories: inOrder.map(([batch]) => `${batch}`),
        series: [
          { name: 'results', values: inOrder.map(([, { same, differing }]) => same + differing) },
        ],
      },
    ],
  };
}

/** Results of the batches of one size; `boxes` are those of the first one. */
interface Size {
  boxes: Float32Array;
  same: number;
  differing: number;
}

function withinSizes(name: string, sizes: readonly [number, Size][]): Figure[] {
  const differing = sizes.reduce((sum, [, size]) => sum + size.differing, 0);
  const times = sizes.reduce((sum, [, size]) => sum + size.same + size.differing, 0);
  return [
    {
      what: `${name}, results that differ in a bit from batches as large, of ${times}`,
      value: differing,
      unit: 'results',
      ratio: differing,
      goal: NONE,
    },
    { what: 'sizes of their batches', value: sizes.length, unit: 'sizes' },
  ];
}

function betweenSizes(name: string, found: readonly PhotoPair[]): Figure[] {
  const { recall, precision, confidenceGap } = compare(found, OVERLAP, FLOOR);
  const share = Math.min(recall, precision);
  return [
    {
      what: `${name}, boxes with a partner in batches of every size`,
      value: 100 * share,
      unit: '%',
      ratio: share,
      goal: SHARE_GOAL,
    },
    {
      what: `${name}, largest gap of score between batches of different sizes`,
      value: confidenceGap,
      unit: 'of a score of 1',
      ratio: confidenceGap,
      goal: SCORE_GOAL,
    },
  ];
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
