/** Models and classes that the forms offer. */
import type { Model } from '../../client/records.js';

/** Models that a request may name. */
export function usableModels(models: readonly Model[]): Model[] {
  return models.filter(({ state }) => state !== 'refused');
}

/** Classes that the class field offers for a model. */
export function offeredClasses(models: readonly Model[], name: string): string[] {
  return [...new Set(models.find((model) => model.name === name)?.classes)];
}
