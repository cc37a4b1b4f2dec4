/**
 * Request fields of both job submission and synchronous detection. Optional fields are `nullish` in a request: many
 * clients send null for a field that is not set.
 */
import { z } from '@hono/zod-openapi';
import { LatticeError } from '../../api/errors.js';
import { LABELS } from '../../api/job-labels.js';
import { sentForOwnPages } from '../../api/schemas/own-pages.js';
import { REGION_LIMITS } from '../../api/region-rules.js';
import { withSuffix } from '../../models/model-folder.js';
import type { Config } from '../../settings/config.js';
import { NOT_FOREIGN } from '../access/browser-access.js';
import { validationFailed } from './validation.js';

const MAX_PATH_BYTES = 4_096;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Checks size and text only; `src/files/image-paths.ts` checks where a path leads. */
export const pathTextSchema = z
  .string()
  .refine((path) => Buffer.byteLength(path) <= MAX_PATH_BYTES, {
    error: `A path has at most ${MAX_PATH_BYTES} bytes.`,
  })
  .refine((path) => !LONE_SURROGATE.test(path), { error: 'A path must be well-formed Unicode.' });

export const imagePathSchema = pathTextSchema.min(1).openapi({
  maxLength: MAX_PATH_BYTES,
  description:
    'Path on the shared volume, relative to an image root or absolute beneath one; ' +
    `at most ${MAX_PATH_BYTES} bytes as UTF-8`,
  example: 'street.jpg',
});

export const modelNameSchema = z
  .string()
  .regex(/^\w[\w.+-]{0,123}(\.pt)?$/, {
    error: 'A model name has the shape NAME.pt or NAME: letters, digits and . _ + -',
  })
  .overwrite(withSuffix)
  .openapi({
    description: 'Model variant, with or without .pt; the export of the same stem (NAME.onnx) runs',
    example: 'yolov8n.pt',
  });

/** A sentence for the description of requests. */
export const NULL_IS_NOT_GIVEN = 'An optional field that is null counts as not given.';

/** The names of so many classes fit into a frame to a worker. `*` stands for all classes of a model that has more. */
const MAX_CLASSES = 256;
const MAX_TAGS = LABELS.tags.most;

const classNamesSchema = z.array(z.string().min(1).max(128)).min(1).max(MAX_CLASSES);

export const classesSchema = classNamesSchema.openapi({
  description:
    'Classes to detect: names of the classes of the model (see GET /v1/models), in any letter case; `*` for all. ' +
    'Not together with vehicle_types',
  example: ['car', 'truck'],
});

export const vehicleTypesSchema = classNamesSchema.openapi({
  description:
    'The same as classes, under the name of the interface document. Default of both: those of car, motorcycle, bus ' +
    'and truck that the model has; if it has none of them, all its classes',
  example: ['car', 'truck'],
});

/**
 * Refuses lists that are too long before their items are checked: a body within the size limit can contain millions of
 * invalid items, and an issue for each would take far more memory than the body.
 */
export function refuseLongLists(body: unknown, config: Pick<Config, 'maxImagesPerJob'>): void {
  if (typeof body !== 'object' || body === null) return;
  const limits: Record<string, number> = {
    image_paths: config.maxImagesPerJob,
    classes: MAX_CLASSES,
    vehicle_types: MAX_CLASSES,
    regions: REGION_LIMITS.regions,
    tags: MAX_TAGS,
  };
  refuseLonger(body, limits, '#');
  const regions: unknown = Reflect.get(body, 'regions');
  if (!Array.isArray(regions)) return;
  const { points: polygon, classes } = REGION_LIMITS;
  regions.forEach((region, at) => {
    refuseLonger(region, { polygon, classes }, `#/regions/${at}`);
  });
}

function refuseLonger(value: unknown, limits: Record<string, number>, at: string): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [field, limit] of Object.entries(limits)) {
    const list: unknown = Reflect.get(value, field);
    if (!Array.isArray(list) || list.length <= limit) continue;
    const detail = `${field} has more than ${limit} items.`;
    throw validationFailed([{ detail, pointer: `${at}/${field}` }]);
  }
}

/** Throws `forbidden` where a page of another origin sends a field of `schema` that it may not send. */
export function refuseForOwnPages(value: unknown, schema: z.ZodObject): void {
  const errors = sentForOwnPages(value, schema).map((name) => ({
    detail: `${name}: Only ${NOT_FOREIGN} may send it.`,
    pointer: `#/${name}`,
  }));
  const [first] = errors;
  if (first !== undefined) throw new LatticeError('forbidden', first.detail, { errors });
}

/** Throws `validation_failed` where a request has both. */
export function refuseRegionsAndView({
  regions,
  view,
}: {
  regions?: unknown;
  view?: unknown;
}): void {
  if (!regions || !view) return;
  const detail = 'regions and view exclude each other: send one of them.';
  throw validationFailed([{ detail, pointer: '#/view' }]);
}
