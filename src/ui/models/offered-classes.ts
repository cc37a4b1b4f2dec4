/** What the forms offer of the models there are. */
import type { Model } from '../../client/records.js';

/** Models that a request may name. */
export function usableModels(models: readonly Model[]): Model[] {
  return models.filter(({ state }) => state !== 'refused');
}

/** What the class field offers for a model. */
export function offeredClasses(models: readonly Model[], name: string): string[] {
  return [...new Set(models.find((model) => model.name === name)?.classes)];
}
