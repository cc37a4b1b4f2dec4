/** A job submission, which REST and socket read alike. */
import { setImmediate } from 'node:timers/promises';
import { z } from '@hono/zod-openapi';
import { refuseWhileStopping } from '../../../api/errors.js';
import { isObject } from '../../../api/json-object.js';
import { readLabels } from '../../../api/job-labels.js';
import { requestLabels } from '../../../api/schemas/job-label-schemas.js';
import { requestParameters } from '../../../api/schemas/option-schemas.js';
import { readParameters } from '../../../api/options.js';
import { forOwnPages } from '../../../api/schemas/own-pages.js';
import { requestFields } from '../../../api/schemas/submission-field-schemas.js';
import { readFields } from '../../../api/submission-fields.js';
import { checkImagePath, expandImagePaths, literalPaths } from '../../../files/image-paths.js';
import type { LeftOut } from '../../../api/left-out.js';
import type { JobSpec, SharedSettings } from '../../../store/job.js';
import { typedPaths } from '../../../store/job-title.js';
import {
  createTargetPolicy,
  targetRefusal,
  type TargetPolicy,
} from '../../../webhooks/target-policy.js';
import type { AppDeps } from '../../app-deps.js';
import type { ModelCatalogue } from '../../model-catalogue.js';
import { matchClasses, noSuchClass } from '../../../models/class-filter.js';
import { defaultModelName } from '../../../models/model-folder.js';
import { refuseUnknownClasses, requestedClasses } from '../../request/requested-classes.js';
import { validate, validationFailed } from '../../request/validation.js';
import { MAX_DEPTH, MAX_KEYS } from '../../request/json-body.js';
import {
  NULL_IS_NOT_GIVEN,
  classesSchema,
  imagePathSchema,
  modelNameSchema,
  refuseForOwnPages,
  refuseLongLists,
  refuseRegionsAndView,
  vehicleTypesSchema,
} from '../../request/request-fields.js';
import { jobTypeSchema, uploadIdSchema } from '../../../answers/job-fields.js';

const MAX_METADATA_BYTES = 64 * 1024;
/** Keys that change an object's nature in careless receivers. */
const REFUSED_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/** Why an object cannot be stored as metadata, or null. */
function metadataFault(value: unknown): string | null {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'Numbers must be finite.';
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, inner] of Object.entries(value)) {
    if (!Array.isArray(value) && REFUSED_KEYS.has(key)) return `The key '${key}' is not allowed.`;
    const fault = metadataFault(inner);
    if (fault !== null) return fault;
  }
  return null;
}

/**
 * The schema of metadata in the OpenAPI document. It has a name, because generators lose the null of a map whose type
 * is a list, or the map itself.
 */
export const METADATA_COMPONENT = {
  type: 'object',
  additionalProperties: {},
  maxProperties: MAX_KEYS,
  description:
    'Any JSON object up to 64 KiB without the white space between its parts, passed through to the result as it was ' +
    `sent: numbers keep their digits. At most ${MAX_KEYS} keys an object and ${MAX_DEPTH - 1} levels`,
  example: { camera: 'north-gate' },
} as const;

/** The value is kept as it came and never copied key by key: a copy would lose or act on keys such as `__proto__`. */
const metadataSchema = (z.unknown() as z.ZodType<Record<string, unknown>>)
  .refine(isObject, { error: 'metadata is an object.', abort: true })
  .superRefine((value, context) => {
    const fault = metadataFault(value);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault });
  })
  .openapi({ anyOf: [{ $ref: '#/components/schemas/JobMetadata' }, { type: 'null' }] });

export const jobSubmitSchema = z
  .strictObject({
    job_type: jobTypeSchema,
    image_paths: z
      .array(imagePathSchema)
      .min(1)
      .openapi({
        description:
          'Images, folders or globs (`*`, `?`, `[]`, `{}`, `**`); folders and globs stand for their images in ' +
          'order of name. The name of a file that exists is that file, whatever characters it has. LATTICE_MAX_IMAGES_PER_JOB bounds the list and the images that come of it',
        example: ['street.jpg'],
      }),
    literal_paths: z
      .boolean()
      .nullish()
      .openapi({
        default: false,
        description:
          'Each of image_paths is the name of a file, whatever characters it has: no folder and no glob is looked for, and ' +
          'what is no picture is an error of that image',
      }),
    upload: forOwnPages(
      uploadIdSchema
        .openapi({
          description:
            'An upload, see POST /v1/uploads: image_paths are beneath it, `.` for all of it. The job keeps the photos as ' +
            'long as it is kept itself',
        })
        .nullish(),
    ),
    model_name: modelNameSchema.nullish(),
    ...requestParameters,
    vehicle_types: vehicleTypesSchema
      .openapi({
        description:
          'Classes of a detect_vehicles job, as in classes; other types ignore it. Default: those of car, motorcycle, ' +
          'bus and truck that the model has; if it has none of them, all its classes',
      })
      .nullish(),
    classes: classesSchema
      .openapi({
        description:
          'Classes of a detect_vehicles or batch_detect job: names of the classes of the model (see GET /v1/models), in ' +
          'any letter case; `*` for all. Not together with vehicle_types. batch_detect takes all without it',
      })
      .nullish(),
    ...requestFields,
    metadata: metadataSchema.nullish(),
    ...requestLabels,
  })
  .openapi('JobSubmit', {
    description: NULL_IS_NOT_GIVEN,
    example: {
      job_type: 'detect_cars',
      image_paths: ['street.jpg'],
      confidence_threshold: 0.5,
      priority: 5,
      metadata: { camera: 'north-gate' },
    },
  });

export type JobSubmitBody = z.infer<typeof jobSubmitSchema>;
export type JobSettingsBody = Omit<JobSubmitBody, 'image_paths' | 'literal_paths' | 'upload'>;

const MANY_PATHS = 1_000;
const CAR = 'car';

export interface Sender {
  keyId: string | null;
  /** A web page of another origin. */
  isForeign: boolean;
}

/**
 * Parsed JSON -> a complete spec, and what its folders and globs left out. `metadataText` gives the text of its
 * `metadata`. Rejects with `validation_failed`, `forbidden` for a field that the sender may not send,
 * `path_not_allowed` or a model's error.
 */
export type ReadSubmission = (
  value: unknown,
  metadataText: () => string | undefined,
  sender: Sender,
) => Promise<{ spec: JobSpec; leftOut: LeftOut }>;

export function createReadSubmission(
  deps: Pick<AppDeps, 'config' | 'draining' | 'uploads'>,
  readSettings: ReadSettings,
): ReadSubmission {
  const { config } = deps;
  return async (value, metadataText, { keyId, isForeign }) => {
    refuseWhileStopping(deps);
    if (isForeign) refuseForOwnPages(value, jobSubmitSchema);
    refuseLongLists(value, config);
    await ownTurn(value);
    const body = validate(jobSubmitSchema, value);
    const settings = await readSettings(body, metadataText, keyId);
    await ownTurn(value);
    const { images, leftOut } = await findImages(body, keyId, deps);
    await ownTurn(value);
    const spec = {
      ...settings,
      imagePaths: images,
      typed: typedPaths(body.image_paths, images),
      ...(body.upload ? { upload: body.upload } : {}),
      leftOut,
    };
    return { spec, leftOut };
  };
}

/** The part of a submission that is not its images. Rejects with `validation_failed` or a model's error. */
export type ReadSettings = (
  body: JobSettingsBody,
  metadataText: () => string | undefined,
  keyId: string | null,
) => Promise<SharedSettings>;

export function createReadSettings(
  deps: Pick<AppDeps, 'config' | 'views'>,
  catalogue: ModelCatalogue,
): ReadSettings {
  const { config } = deps;
  const targets = createTargetPolicy(config);
  return async (body, metadataText, keyId) => {
    refuseTarget(body.callback_url, targets);
    const metadata = body.metadata ? (metadataText() ?? null) : null;
    refuseLongMetadata(metadata);
    const modelName = body.model_name ?? defaultModelName(config);
    const listed = await catalogue.check(modelName);
    const classes = await classesOfJob(body, modelName, listed, catalogue);
    await refuseUnknownClasses(body, modelName, catalogue);
    refuseRegionsAndView(body);
    deps.views.refuseUnknown(body.view, keyId);
    const ofModel = await catalogue.defaultsOf(modelName);
    return {
      jobType: body.job_type,
      options: { modelName, classes, ...readParameters(body, ofModel) },
      ...readFields(body),
      metadata,
      keyId,
      labels: readLabels(body),
    };
  };
}

async function findImages(
  { upload, image_paths: paths, literal_paths: areLiteral }: JobSubmitBody,
  keyId: string | null,
  { config, uploads }: Pick<AppDeps, 'config' | 'uploads'>,
): Promise<{ images: string[]; leftOut: LeftOut }> {
  const { imageRoots, maxImagesPerJob } = config;
  const find = (roots: readonly string[]) =>
    areLiteral === true
      ? literalPaths(paths, roots)
      : expandImagePaths(paths, roots, maxImagesPerJob);
  if (!upload) return find(imageRoots);
  const { root, leftOut } = await uploads.forJob(upload, keyId);
  for (const [index, path] of paths.entries()) checkImagePath(path, [], `#/image_paths/${index}`);
  const { images } = await find([root]);
  return { images, leftOut: leftOut(images) };
}

/** Refuses a webhook that can never be sent at submit, not only in the log at the end of the job. */
function refuseTarget(url: string | null | undefined, targets: TargetPolicy): void {
  if (url === null || url === undefined) return;
  const refusal = targetRefusal(url, targets);
  if (refusal === null) return;
  const detail = `callback_url: ${refusal}.`;
  throw validationFailed([{ detail, pointer: '#/callback_url' }]);
}

function refuseLongMetadata(text: string | null): void {
  if (text === null || Buffer.byteLength(text) <= MAX_METADATA_BYTES) return;
  const detail = `metadata has at most ${MAX_METADATA_BYTES} bytes as JSON.`;
  throw validationFailed([{ detail: `metadata: ${detail}`, pointer: '#/metadata' }]);
}

/** Each step over a long list holds the event loop for a while: others have a turn between two of them. */
async function ownTurn(value: unknown): Promise<void> {
  const paths: unknown = typeof value === 'object' && value && Reflect.get(value, 'image_paths');
  if (Array.isArray(paths) && paths.length > MANY_PATHS) await setImmediate();
}

/** `listed`: the model's classes, none where they are not known without loading it; then its worker refuses. */
export async function classesOfJob(
  body: Pick<JobSettingsBody, 'job_type' | 'classes' | 'vehicle_types'>,
  modelName: string,
  listed: readonly string[],
  catalogue: Pick<ModelCatalogue, 'classesOf'>,
): Promise<readonly string[] | null> {
  switch (body.job_type) {
    case 'detect_cars':
      refuseClassesOfCars(body, modelName, listed);
      return [CAR];
    case 'detect_vehicles':
      return requestedClasses(body, modelName, catalogue);
    case 'batch_detect':
      return body.classes ? requestedClasses(body, modelName, catalogue) : null;
  }
}

function refuseClassesOfCars(
  { classes }: Pick<JobSettingsBody, 'classes'>,
  modelName: string,
  listed: readonly string[],
): void {
  if (classes) {
    const detail = 'classes: A detect_cars job detects cars only. Send detect_vehicles instead.';
    throw validationFailed([{ detail, pointer: '#/classes' }]);
  }
  if (listed.length === 0 || matchClasses([CAR], listed).unknown.length === 0) return;
  const detail = `${noSuchClass(modelName, CAR, listed)} Send detect_vehicles or batch_detect instead of detect_cars.`;
  throw validationFailed([{ detail, pointer: '#/job_type' }]);
}
