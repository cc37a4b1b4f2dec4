/** The validated fields of a synchronous request, wherever they came from -> what the detector is asked for. */
import type { Config } from '../../settings/config.js';
import { readParameters, type DetectOptions } from '../../api/options.js';
import { defaultModelName } from '../../models/model-folder.js';
import type { ModelCatalogue } from '../model-catalogue.js';
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
    ...readParameters(fields),
    classes: await requestedClasses(fields, modelName, catalogue),
  };
  return { options, deadlineMs };
}
