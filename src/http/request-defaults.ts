/** The maximum length of the lists of a request. */
import type { Config } from '../settings/config.js';
import { MAX_CLASSES } from './request-fields.schema.js';
import { validationFailed } from './validation.js';

/**
 * Refuses lists that are too long before their items are checked: a body within the size limit can contain millions of
 * invalid items, and an issue for each would take far more memory than the body.
 */
export function refuseLongLists(body: unknown, config: Pick<Config, 'maxImagesPerJob'>): void {
  if (typeof body !== 'object' || body === null) return;
  const limits = {
    image_paths: config.maxImagesPerJob,
    classes: MAX_CLASSES,
    vehicle_types: MAX_CLASSES,
  };
  for (const [field, limit] of Object.entries(limits)) {
    const value: unknown = Reflect.get(body, field);
    if (Array.isArray(value) && value.length > limit) {
      throw validationFailed([
        { detail: `${field} has more than ${limit} items.`, pointer: `#/${field}` },
      ]);
    }
  }
}
