/** One reading of a job submission for REST and socket alike. */
import { LatticeError } from '../../errors.js';
import { expandImagePaths } from '../../jobs/image-paths.js';
import type { JobSpec } from '../../jobs/job.js';
import type { AppDeps } from '../app-deps.js';
import type { ModelCatalogue } from '../models/model-catalogue.js';
import { DETECTION_DEFAULTS, defaultModelName, refuseLongLists } from '../request-defaults.js';
import { validate, validationFailed } from '../validation.js';
import { resolveVehicleTypes } from '../vehicle-classes.js';
import { jobSubmitSchema, type JobSubmitBody } from './job.schema.js';

/** Parsed JSON -> a complete spec. Rejects with `validation_failed`, `path_not_allowed` or a model's error. */
export type ReadSubmission = (value: unknown, keyId: string | null) => Promise<JobSpec>;

export function createReadSubmission(
  deps: Pick<AppDeps, 'config' | 'annotate' | 'draining'>,
  catalogue: ModelCatalogue,
): ReadSubmission {
  const { config } = deps;
  return async (value, keyId) => {
    if (deps.draining()) throw new LatticeError('shutting_down', 'The service is stopping.');
    refuseLongLists(value, config);
    const body = validate(jobSubmitSchema, value);
    if (body.annotate === true && deps.annotate === undefined) {
      throw validationFailed([
        { detail: 'Drawing is not available on this service.', pointer: '#/annotate' },
      ]);
    }
    const modelName = body.model_name ?? defaultModelName(config);
    await catalogue.check(modelName);
    return {
      jobType: body.job_type,
      imagePaths: await expandImagePaths(
        body.image_paths,
        config.imageRoots,
        config.maxImagesPerJob,
      ),
      modelName,
      confidence: body.confidence_threshold ?? DETECTION_DEFAULTS.confidence,
      iou: body.iou_threshold ?? DETECTION_DEFAULTS.iou,
      maxDetections: body.max_detections ?? DETECTION_DEFAULTS.maxDetections,
      classes: await classesOf(body, modelName, catalogue),
      priority: body.priority ?? 0,
      callbackUrl: body.callback_url ?? null,
      metadata: body.metadata ? JSON.stringify(body.metadata) : null,
      annotate: body.annotate ?? false,
      keyId,
    };
  };
}

async function classesOf(
  body: JobSubmitBody,
  modelName: string,
  catalogue: ModelCatalogue,
): Promise<string[] | null> {
  switch (body.job_type) {
    case 'detect_cars':
      return ['car'];
    case 'detect_vehicles':
      return [...(await resolveVehicleTypes(body.vehicle_types, modelName, catalogue))];
    case 'batch_detect':
      return null;
  }
}
