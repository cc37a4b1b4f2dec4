/** What several lanes say of their models, as one list. */
import type { ModelDescription } from '../contract/model-description.js';

const RANK = { ready: 2, available: 1, refused: 0 } as const;

/** Each name once, in the order of the first lane that has it, as the lane that is furthest with it describes it. */
export function mergeModels(offers: readonly (readonly ModelDescription[])[]): ModelDescription[] {
  const byName = new Map<string, ModelDescription>();
  for (const model of offers.flat()) {
    const known = byName.get(model.name);
    if (known === undefined || RANK[model.state] > RANK[known.state]) byName.set(model.name, model);
  }
  return [...byName.values()];
}
