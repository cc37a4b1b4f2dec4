/** One reading of a job submission for REST and socket alike. */
import { setImmediate } from 'node:timers/promises';
import { LatticeError } from '../../api/errors.js';
import { readParameters } from '../../api/options.js';
import { expandImagePaths } from '../../files/image-paths.js';
import type { JobSpec } from '../../jobs/job.js';
import {
  createTargetPolicy,
  targetRefusal,
  type TargetPolicy,
} from '../../webhooks/target-policy.js';
import type { AppDeps } from '../app-deps.js';
import type { ModelCatalogue } from '../model-catalogue.js';
import { matchClasses, noSuchClass } from '../../models/class-filter.js';
import { defaultModelName } from '../../models/model-folder.js';
import { refuseLongLists } from '../request-defaults.js';
import { requestedClasses } from '../requested-classes.js';
import { validate, validationFailed } from '../validation.js';
import { jobSubmitSchema, type JobSubmitBody } from './job.schema.js';

const MANY_PATHS = 1_000;
const CAR = 'car';

/** Parsed JSON -> a complete spec. Rejects with `validation_failed`, `path_not_allowed` or a model's error. */
export type ReadSubmission = (value: unknown, keyId: string | null) => Promise<JobSpec>;

export function createReadSubmission(
  deps: Pick<AppDeps, 'config' | 'draining'>,
  catalogue: ModelCatalogue,
): ReadSubmission {
  const { config } = deps;
  const targets = createTargetPolicy(config);
  return async (value, keyId) => {
    if (deps.draining()) throw new LatticeError('shutting_down', 'The service is stopping.');
    refuseLongLists(value, config);
    await ownTurn(value);
    const body = validate(jobSubmitSchema, value);
    refuseTarget(body.callback_url, targets);
    const modelName = body.model_name ?? defaultModelName(config);
    const listed = await catalogue.check(modelName);
    const classes = await classesOf(body, modelName, listed, catalogue);
    await ownTurn(value);
    const { imageRoots, maxImagesPerJob } = config;
    const imagePaths = await expandImagePaths(body.image_paths, imageRoots, maxImagesPerJob);
    await ownTurn(value);
    return {
      jobType: body.job_type,
      imagePaths,
      options: { modelName, classes, ...readParameters(body) },
      priority: body.priority ?? 0,
      callbackUrl: body.callback_url ?? null,
      metadata: body.metadata ? JSON.stringify(body.metadata) : null,
      annotate: body.annotate ?? false,
      keyId,
    };
  };
}

/** Refuses a webhook that can never be sent at submit, not only in the log at the end of the job. */
function refuseTarget(url: string | null | undefined, targets: TargetPolicy): void {
  if (url === null || url === undefined) return;
  const refusal = targetRefusal(url, targets);
  if (refusal === null) return;
  const detail = `callback_url: ${refusal}.`;
  throw validationFailed([{ detail, pointer: '#/callback_url' }]);
}

/** Each step over a long list holds the event loop for a while: others have a turn between two of them. */
async function ownTurn(value: unknown): Promise<void> {
  const paths: unknown = typeof value === 'object' && value && Reflect.get(value, 'image_paths');
  if (Array.isArray(paths) && paths.length > MANY_PATHS) await setImmediate();
}

/** `listed`: the model's classes, none where they are not known without loading it; then its worker refuses. */
async function classesOf(
  body: JobSubmitBody,
  modelName: string,
  listed: readonly string[],
  catalogue: ModelCatalogue,
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
  { classes }: JobSubmitBody,
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
