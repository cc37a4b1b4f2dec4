/** The shared test data: boxes found by an independent pipeline, and label files. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Detection } from '../../src/api/schemas/image.js';
import type { LabelledBox } from '../../src/boxes/average-precision.js';

export const TESTDATA = fileURLToPath(new URL('../../../shared/testdata', import.meta.url));

/** Photos of one folder with the boxes that one model must give. */
export interface PhotoSet {
  name: string;
  /** `model_name` of requests. */
  model: string;
  /** Absolute folder of the photos. */
  folder: string;
  /** Largest difference of score that counts as equal in f32. */
  scoreGap: number;
  /** The model's activations are quantised at run time, which GPU engines do not take. */
  runTimeQuantised: boolean;
  photos: Map<string, { width: number; height: number; expected: Detection[] }>;
}

const fileSchema = z.object({
  model: z.string(),
  images: z.record(
    z.string(),
    z.object({
      width: z.number(),
      height: z.number(),
      detections: z.array(
        z.object({
          class: z.string(),
          confidence: z.number(),
          box: z.tuple([z.number(), z.number(), z.number(), z.number()]),
        }),
      ),
    }),
  ),
});

const RUN_TIME_QUANTISER = 'DynamicQuantizeLinear';

const SETS = [
  { name: 'photos', file: 'photos-conf0.25-iou0.7.json', folder: 'images', scoreGap: 0.01 },
  {
    name: 'coco128',
    file: 'coco128-conf0.25-iou0.7.json',
    folder: 'coco128/images',
    scoreGap: 0.01,
  },
  // Its activations are quantised to 8 bit at run time: ONNX Runtime and OpenVINO differ by up to 0.06 in the raw
  // scores of one and the same input, because a value next to a rounding edge falls to either side.
  { name: 'kitti', file: 'kitti-photos-conf0.25-iou0.7.json', folder: 'images', scoreGap: 0.06 },
];

/** Null when the shared test data is absent. */
export function readPhotoSets(): PhotoSet[] | null {
  if (!existsSync(join(TESTDATA, 'expected'))) return null;
  return SETS.map(({ name, file, folder, scoreGap }) => {
    const text = readFileSync(join(TESTDATA, 'expected', file), 'utf8');
    const { model, images } = fileSchema.parse(JSON.parse(text));
    const photos = Object.entries(images).map(
      ([photo, { detections, ...size }]) => [photo, { ...size, expected: detections }] as const,
    );
    return {
      name,
      model: model.replace(/\.onnx$/, '.pt'),
      folder: join(TESTDATA, folder),
      scoreGap,
      runTimeQuantised: readFileSync(join(TESTDATA, 'models', model)).includes(RUN_TIME_QUANTISER),
      photos: new Map(photos),
    };
  });
}

/** Boxes of a label file (`class cx cy w h`, 0 to 1) in pixels; a photo without a file has none. */
export function readLabels(
  photo: string,
  size: { width: number; height: number },
  classes: readonly (string | undefined)[],
): LabelledBox[] {
  const file = join(TESTDATA, 'coco128/labels', photo.replace(/\.\w+$/, '.txt'));
  return labelsOf(file, size, (id) => classes[id] ?? `class ${id}`);
}

/** The boxes of a label file; boxes of an id for which `nameOf` has no name are left out. */
export function labelsOf(
  file: string,
  size: { width: number; height: number },
  nameOf: (id: number) => string | undefined,
): LabelledBox[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.flatMap((line): LabelledBox[] => {
    const [id = NaN, x = NaN, y = NaN, w = NaN, h = NaN] = line.split(/\s+/).map(Number);
    const name = nameOf(id);
    if (name === undefined) return [];
    return [
      {
        class: name,
        box: [
          (x - w / 2) * size.width,
          (y - h / 2) * size.height,
          (x + w / 2) * size.width,
          (y + h / 2) * size.height,
        ],
      },
    ];
  });
}
