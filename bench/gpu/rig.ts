/** A core of the plan's device, and the tasks that questions give it. */
import type { NativeCoreOptions, NativeModel, NativeTask } from '../../src/native/contract.js';
import { openCore, type Core, type CoreTask } from '../../src/native/core.js';
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
    // On the CPU only dry runs measure, often beside other work: they must end, not step aside.
    asyncYields: plan.device === 'cuda',
    engineCache: plan.engineCache,
    maxFileBytes: 64 * 1024 * 1024,
    maxPixels: 64_000_000,
    maxSide: 16_384,
    crashMarkerPath: '',
    ...more,
  });
  const stop = () => {
    // Gives up the engine that is being built, which the next run goes on with.
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

type Kind = NativeTask['kind'];

const base = {
  path: null,
  priority: 0,
  deadlineMs: 0,
  confidence: 0.5,
  iou: 0.7,
  maxDetections: 300,
  classIds: null,
};

/** What lies decoded in memory: noise that is the same each time. */
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
  return { ...base, modelId: model.modelId, kind, pixels };
}

export function photoTask(model: NativeModel, kind: Kind, path: string): CoreTask {
  return { ...base, modelId: model.modelId, kind, path };
}

export function noopTask(model: NativeModel): CoreTask {
  return { ...base, modelId: model.modelId, kind: 'noop' };
}

/** How long a rate is taken for: so many images at least, and so many milliseconds. */
export interface Stretch {
  images: number;
  leastMs: number;
}

/** Of a throughput round. A GPU is done with a small network's images in a tenth of a second. */
export function stretchOf({ images, seconds }: Effort): Stretch {
  return { images, leastMs: 250 * seconds };
}

/** Tasks that may be in the air at once, so that every slice is full. */
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
 * Images a second while the air is full of them. What a run takes to fill it and to empty it is left out, where it is
 * long enough: a service at work has neither, and the network's own time to compare with has neither.
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
