/**
 * Are the boxes those of the CPU engine in f32? That one's agreement with an independent pipeline is shown by
 * `npm run parity`, on more photos.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { NativeModel } from '../../../src/native/contract.js';
import type { Core } from '../../../src/native/core.js';
import type { Detection } from '../../../src/api/schemas/image.js';
import { detectionsFrom } from '../../../src/boxes/raw-detections.js';
import { PROJECT_ROOT, SHARED_TESTDATA } from '../../../test/support/service-process.js';
import { compare, type BoxAgreement } from '../../accuracy/box-agreement.js';
import type { Answer, Figure } from '../answer.js';
import { decodedPhoto, type Pixels } from '../photos.js';
import type { Plan } from '../plan.js';
import { loadWhole, openRig, pixelTask } from '../rig.js';

/** Boxes of interest score more than `FLOOR`; both sides are asked down to `LOWEST` for partners. */
const FLOOR = 0.3;
const LOWEST = 0.25;
const OVERLAP = 0.9;
const SHARE_GOAL = { atLeast: 0.995 };
const SCORE_GOAL = { atMost: 0.02 };

export default async function parity(plan: Plan): Promise<Answer> {
  await using rig = openRig(plan);
  await using reference = openRig(plan, { device: 'cpu', precision: 'f32' });
  const files = photoFiles(plan);
  const photos = await Promise.all(files.map((file) => decodedPhoto(file)));
  const rows: { name: string; agreement: BoxAgreement }[] = [];
  for (const { name, file } of plan.models.filter(({ layoutOnly }) => layoutOnly !== true)) {
    const [found, expected] = [
      await boxesOf(rig.core, file, photos),
      await boxesOf(reference.core, file, photos),
    ];
    const pairs = files.map((photo, at) => ({
      photo,
      found: found[at]!,
      expected: expected[at]!,
    }));
    const agreement = compare(pairs, OVERLAP, FLOOR);
    if (agreement.expected === 0) throw new Error(`${name} finds nothing to compare.`);
    rows.push({ name, agreement });
  }
  return {
    title: 'Boxes against the CPU engine in f32',
    figures: rows.flatMap(({ name, agreement }) => figuresOf(name, agreement)),
    notes: [
      `${files.length} photos, decoded once for both; partners have the same class and overlap by ${OVERLAP} (IoU); boxes that score more than ${FLOOR} count.`,
    ],
    charts: [
      {
        name: 'parity',
        title: 'Agreement with the CPU engine in f32',
        unit: '%',
        kind: 'bars',
        categories: rows.map(({ name }) => name),
        series: (['recall', 'precision'] as const).map((side) => ({
          name: side,
          values: rows.map(({ agreement }) => 100 * agreement[side]),
        })),
      },
    ],
  };
}

/** A dry run takes one photo. */
function photoFiles(plan: Plan): string[] {
  const made = plan.photos.map(({ files }) => files.map((file) => join(plan.photoRoot, file)));
  if (plan.device === 'cpu') return made[0]!.slice(0, 1);
  const demo = ['street.jpg', 'crossing.jpg'].map((name) =>
    join(PROJECT_ROOT, 'models/demo', name),
  );
  const folder = join(SHARED_TESTDATA, 'coco128/images');
  const shared = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  // The largest ones would take more memory than they tell.
  return [...made.slice(0, 3).flat(), ...demo, ...shared];
}

async function boxesOf(
  core: Core,
  file: string,
  photos: readonly Pixels[],
): Promise<Detection[][]> {
  const model: NativeModel = await loadWhole(core, file);
  const results = await Promise.all(
    photos.map((pixels) => core.run({ ...pixelTask(model, 'async', pixels), confidence: LOWEST })),
  );
  core.unloadModel(model.modelId);
  return results.map(({ boxes }) => detectionsFrom(boxes, model.names));
}

function figuresOf(name: string, agreement: BoxAgreement): Figure[] {
  const { expected, found, recall, precision, confidenceGap } = agreement;
  const share = (what: string, value: number): Figure => ({
    what: `${name}, ${what}`,
    value: 100 * value,
    unit: '%',
    ratio: value,
    goal: SHARE_GOAL,
  });
  return [
    share(`recall of ${expected} boxes`, recall),
    share(`precision of ${found} boxes`, precision),
    {
      what: `${name}, largest gap of score`,
      value: confidenceGap,
      unit: 'of a score of 1',
      ratio: confidenceGap,
      goal: SCORE_GOAL,
    },
  ];
}
