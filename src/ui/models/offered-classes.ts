/** What the forms offer of the models there are. */
import type { Model } from '../../client/records.js';

/** Stands for all classes of the model in a request. */
export const ALL_CLASSES = '*';

/** Models that a request may name. */
export function usableModels(models: readonly Model[]): Model[] {
  return models.filter(({ state }) => state !== 'refused');
}

/** What the class field offers for a model: all of them, or each. */
export function offeredClasses(models: readonly Model[], name: string): string[] {
  const classes = models.find((model) => model.name === name)?.classes ?? [];
  return classes.length === 0 ? [] : [ALL_CLASSES, ...new Set(classes)];
}
