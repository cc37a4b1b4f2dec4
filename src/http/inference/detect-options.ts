/** The validated fields of a synchronous request, wherever they came from -> what the detector is asked for. */
import type { Config } from '../../settings/config.js';
import type { DetectOptions } from '../../api/options.js';
import { defaultModelName } from '../../models/model-folder.js';
import type { ModelCatalogue } from '../models/model-catalogue.js';
import { DETECTION_DEFAULTS } from '../request-defaults.js';
import { requestedClasses } from '../requested-classes.js';
import { validationFailed } from '../validation.js';
import type { DetectFields } from './detect.schema.js';

/** Rejects with `validation_failed` or the model's own error. */
export async function readDetectOptions(
  fields: DetectFields,
  config: Pick<Config, 'modelFamily' | 'syncDeadlineMs'>,
  catalogue: ModelCatalogue,
): Promise<{ options: DetectOptions; deadlineMs: number }> {
  const deadlineMs = fields.deadline_ms ?? config.syncDeadlineMs;
  if (deadlineMs > config.syncDeadlineMs) {
    const detail = `deadline_ms: It is at most ${config.syncDeadlineMs}, the deadline of the service.`;
    throw validationFailed([{ detail, pointer: '#/deadline_ms' }]);
  }
  const modelName = fields.model_name ?? defaultModelName(config);
  const options = {
    modelName,
    confidence: fields.confidence_threshold ?? DETECTION_DEFAULTS.confidence,
    iou: fields.iou_threshold ?? DETECTION_DEFAULTS.iou,
    maxDetections: fields.max_detections ?? DETECTION_DEFAULTS.maxDetections,
    classes: await requestedClasses(fields, modelName, catalogue),
  };
  return { options, deadlineMs };
}
