/** From flags and machine to the plan of a run. */
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { PROJECT_ROOT, SHARED_TESTDATA } from '../../test/support/service-process.js';
import type { Arguments } from './arguments.js';
import type { GpuFacts } from './gpu-facts.js';
import { makePhotos } from './photos.js';
import { EFFORTS, findModels, type Plan } from './plan.js';

/** Makes the photos in `folder`. */
export async function makePlan(
  args: Arguments,
  facts: GpuFacts,
  folder: string,
): Promise<{ plan: Plan; notes: string[] }> {
  const effort = { ...EFFORTS[args.dry ? 'dry' : args.quick ? 'quick' : 'full'] };
  if (args.long !== null) effort.long = args.long;
  const named = args.models ?? process.env.LATTICE_MODELS_DIR;
  const bundled = [join(SHARED_TESTDATA, 'models'), join(PROJECT_ROOT, 'models')];
  const { models, notes } = findModels(named === undefined ? bundled : [resolve(named)]);
  const plan: Plan = {
    device: args.dry ? 'cpu' : 'cuda',
    devices: args.dry ? 1 : facts.names.length,
    threads: availableParallelism(),
    // One is enough to keep the script alive.
    models: args.dry ? models.slice(0, 1) : models,
    tinyModel: join(PROJECT_ROOT, 'models/tiny/tiny-v8.onnx'),
    engineCache: args.dry ? '' : engineCache(),
    photoRoot: folder,
    photos: await makePhotos(folder, effort.photos),
    effort,
  };
  return { plan, notes };
}

/** The addon makes the folder, for this user only, but not the one around it. */
function engineCache(): string {
  const folder = resolve(
    process.env.LATTICE_ENGINE_CACHE_DIR ?? join(PROJECT_ROOT, 'build/engines'),
  );
  mkdirSync(dirname(folder), { recursive: true });
  return folder;
}
