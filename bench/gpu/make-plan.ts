/** From flags and machine to the plan of a run. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { loadConfig } from '../../src/settings/config.js';
import { readBatches } from '../../src/settings/settings.js';
import { PROJECT_ROOT, SHARED_TESTDATA } from '../../test/support/service-process.js';
import type { Arguments } from './arguments.js';
import type { GpuFacts } from './gpu-facts.js';
import { makePhotos } from './photos.js';
import {
  EFFORTS,
  findModels,
  MODEL_SIZES,
  sortBySize,
  type ModelSize,
  type Plan,
  type PlannedModel,
} from './plan.js';
import { v8Layout } from './v8-layout.js';

/** Makes the photos in `folder`. */
export async function makePlan(
  args: Arguments,
  facts: GpuFacts,
  folder: string,
): Promise<{ plan: Plan; notes: string[] }> {
  const quick = args.quick || facts.simulated;
  const effort = {
    ...EFFORTS[args.dry ? 'dry' : facts.simulated ? 'simulated' : quick ? 'quick' : 'full'],
  };
  if (args.long !== null) effort.long = args.long;
  const named = args.models ?? process.env.LATTICE_MODELS_DIR;
  const bundled = [join(SHARED_TESTDATA, 'models'), join(PROJECT_ROOT, 'models')];
  const found = findModels(named === undefined ? bundled : [resolve(named)]);
  const sizes = args.sizes ?? MODEL_SIZES;
  const models = found.models.filter(({ size }) => sizes.includes(size));
  const notes = [...found.notes];
  if (named === undefined && !args.dry) {
    notes.push(addLayouts(models, sizes, quick && args.sizes === null));
  }
  const plan: Plan = {
    device: args.dry ? 'cpu' : 'cuda',
    threads: availableParallelism(),
    // One is enough to keep the script alive.
    models: args.dry ? models.slice(0, 1) : models,
    tinyModel: join(PROJECT_ROOT, 'models/tiny/tiny-v8.onnx'),
    engineCache: args.dry ? '' : engineCache(),
    gpuBatches: readBatches(loadConfig({}, process.env).gpuBatches),
    photoRoot: folder,
    photos: await makePhotos(folder, effort.photos, args.dry),
    effort,
  };
  return { plan, notes };
}

/** Models of the sizes that have no export; returns a sentence about them. */
function addLayouts(models: PlannedModel[], wanted: readonly ModelSize[], quick: boolean): string {
  const absent = wanted.filter((size) => !models.some((model) => model.size === size));
  const sizes = absent.join(', ');
  if (absent.length === 0) return 'Every size has an export.';
  if (quick) {
    return `Left out, since there is no export of them and this run is quick: ${sizes} (--sizes asks for them).`;
  }
  const folder = join(PROJECT_ROOT, 'build/layouts');
  mkdirSync(folder, { recursive: true });
  for (const size of absent) {
    const name = `layout-v8${size}`;
    const file = join(folder, `${name}.onnx`);
    writeFileSync(file, v8Layout(size));
    models.push({ name, file, size, layoutOnly: true });
  }
  sortBySize(models);
  return `In the published layout with arbitrary weights, since there is no export of them: ${sizes}.`;
}

/** The addon makes the folder, for this user only, but not the one around it. */
function engineCache(): string {
  const folder = resolve(
    process.env.LATTICE_ENGINE_CACHE_DIR ?? join(PROJECT_ROOT, 'build/engines'),
  );
  mkdirSync(dirname(folder), { recursive: true });
  return folder;
}
