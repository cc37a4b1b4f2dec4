/** A core of the plan's device, and the tasks that questions give it. */
import type { NativeCoreOptions, NativeModel, NativeTask } from '../../src/native/contract.js';
import { openCore, type Core, type CoreTask } from '../../src/native/core.js';
import type { Pixels } from './photos.js';
import type { Plan } from './plan.js';

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
    fastDecode: 0,
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

/** Images a second with at most `window` in the air. */
export async function imagesPerSecond(
  core: Core,
  images: number,
  task: (turn: number) => CoreTask,
  window = 256,
): Promise<number> {
  let next = 0;
  const start = performance.now();
  const feed = async () => {
    while (next < images) {
      next += 1;
      await core.run(task(next - 1));
    }
  };
  await Promise.all(Array.from({ length: Math.min(window, images) }, feed));
  return (images * 1_000) / (performance.now() - start);
}
