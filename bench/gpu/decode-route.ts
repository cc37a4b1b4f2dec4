/** The ways from JPEG bytes to pixels that this machine has. */
import type { Plan } from './plan.js';
import { openRig } from './rig.js';

export interface DecodeRoutes {
  /** Their names, as a core's option `decodeRoutes` takes them. Several GPUs share a name. */
  routes: string[];
  /** Why GPUs lack a route. */
  missing: string[];
}

export async function decodeRoutes(plan: Plan): Promise<DecodeRoutes> {
  await using rig = openRig(plan);
  // Routes of GPUs are opened before the first model.
  await rig.core.loadModel(plan.tinyModel);
  const { routes, missing } = rig.core.decodeRoutes();
  return { routes: [...new Set(routes.map(({ name }) => name))], missing };
}
