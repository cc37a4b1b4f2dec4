/** A core on the plan's device, and the tasks of the questions. */
import type { NativeCoreOptions, NativeModel, NativeTask } from '../../src/native/contract.js';
import { openCore, type Core, type CoreTask } from '../../src/native/core.js';
import { PLAIN_TASK } from '../setting.js';
import type { Pixels } from './photos.js';
import type { Effort, Plan } from './plan.js';

export interface Rig {
  core: Core;
  [Symbol.asyncDispose](): Promise<void>;
}

export function openRig(plan: Plan, more: Partial<NativeCoreOptions> = {}): Rig {
  const core = openCore({
    roots: [plan.photoRoot],
    device: plan.device,
    precision: 'auto',
    threads: plan.threads,
    // On the CPU only dry runs measure, often beside other programs, and must end all the same.
    asyncYields: plan.device === 'cuda',
    engineCache: plan.engineCache,
    gpuBatches: plan.gpuBatches,
    maxFileBytes: 64 * 1024 * 1024,
    maxPixels: 64_000_000,
    maxSide: 16_384,
    ...more,
  });
  const stop = () => {
    // Cancels the build of an engine, which the next run continues.
    void core.close().then(() => process.exit(1));
  };
  process.once('SIGTERM', stop);
  return {
    core,
    [Symbol.asyncDispose]: () => {
      process.off('SIGTERM', stop);
      return core.close();
    },
  };
}

/** With every batch size of the plan. */
export async function loadWhole(
  core: Pick<Core, 'loadModel' | 'addBatches'>,
  file: string,
): Promise<NativeModel> {
  const model = await core.loadModel(file);
  const missing = model.engines.filter(({ isLoaded }) => !isLoaded).map(({ batch }) => batch);
  return missing.length === 0 ? model : core.addBatches(model.modelId, missing);
}

type Kind = NativeTask['kind'];

/** A decoded image: noise that is the same each time. */
export function noise(width: number, height: number): Pixels {
  const data = new Uint8Array(width * height * 3);
  let state = 1;
  for (let at = 0; at < data.length; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    data[at] = state >>> 24;
  }
  return { data, width, height };
}

const PIXELS = noise(640, 480);

export function pixelTask(model: NativeModel, kind: Kind, pixels: Pixels = PIXELS): CoreTask {
  return { ...PLAIN_TASK, modelId: model.modelId, kind, pixels };
}

export function photoTask(model: NativeModel, kind: Kind, path: string): CoreTask {
  return { ...PLAIN_TASK, modelId: model.modelId, kind, path };
}

/** The least images and milliseconds that a rate is measured over. */
export interface Stretch {
  images: number;
  leastMs: number;
}

/** Length of a throughput round. A GPU finishes the images of a small network in 0.1 s. */
export function stretchOf({ images, seconds }: Effort): Stretch {
  return { images, leastMs: 250 * seconds };
}

/** Tasks that may be in the air at once, so that every batch is full. */
const WINDOW = 256;

/** Resolves when all are answered. */
export async function runImages(
  core: Core,
  images: number,
  task: (turn: number) => CoreTask,
): Promise<void> {
  await imagesPerSecond(core, { images, leastMs: 0 }, task);
}

/**
 * Images per second while the pipeline is full. The times to fill and to empty it are left out if the run is long
 * enough: a busy service has neither, and neither has the network's own time to compare with.
 */
export async function imagesPerSecond(
  core: Pick<Core, 'run'>,
  { images, leastMs }: Stretch,
  task: (turn: number) => CoreTask,
): Promise<number> {
  let [fed, done] = [0, 0];
  const now = () => ({ done, ms: performance.now() });
  const begun = now();
  let full = begun;
  let emptying = begun;
  const feed = async () => {
    while (fed < images || performance.now() - begun.ms < leastMs) {
      fed += 1;
      await core.run(task(fed - 1));
      done += 1;
      if (done === WINDOW) full = now();
    }
    if (emptying === begun) emptying = now();
  };
  await Promise.all(Array.from({ length: Math.min(WINDOW, images) }, feed));
  const [from, to] = emptying.done >= 2 * WINDOW ? [full, emptying] : [begun, now()];
  return ((to.done - from.done) * 1_000) / (to.ms - from.ms);
}
