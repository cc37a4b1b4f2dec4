/** A core over the project's own picture and model, for the tests of the addon. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LatticeError } from '../../src/api/errors.js';
import type { NativeCoreOptions, NativeModel } from '../../src/native/contract.js';
import { openCore, type Core, type CoreTask, type RawResult } from '../../src/native/core.js';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const TINY_MODEL = join(ROOT, 'models', 'tiny', 'tiny-v8.onnx');
export const ADDON = join(ROOT, 'build', 'Release', 'lattice.node');

const SHARED = join(ROOT, '..', 'shared', 'testdata');

/** Null, with the reason printed, where the shared test data is absent. */
export function sharedData(): string | null {
  if (existsSync(SHARED)) return SHARED;
  console.log('Left out: tests on the photos and models of ../shared/testdata, which is absent.');
  return null;
}

export function coreOptions(more: Partial<NativeCoreOptions> = {}): NativeCoreOptions {
  return {
    roots: [join(ROOT, 'models', 'demo')],
    device: 'cpu',
    precision: 'f32',
    threads: 2,
    asyncYields: true,
    engineCache: '',
    maxFileBytes: 64 * 1024 * 1024,
    maxPixels: 64_000_000,
    maxSide: 16_384,
    crashMarkerPath: '',
    ...more,
  };
}

export async function openTestCore(
  more: Partial<NativeCoreOptions> = {},
  modelPath = TINY_MODEL,
): Promise<{ core: Core; model: NativeModel }> {
  const core = openCore(coreOptions(more));
  return { core, model: await core.loadModel(modelPath) };
}

export function taskFor(model: NativeModel, more: Partial<CoreTask> = {}): CoreTask {
  return {
    modelId: model.modelId,
    path: 'shapes.png',
    kind: 'sync',
    priority: 0,
    deadlineMs: 0,
    confidence: 0.25,
    iou: 0.7,
    maxDetections: 300,
    classIds: null,
    ...more,
  };
}

export const runAll = (core: Core, tasks: readonly CoreTask[]): Promise<RawResult>[] =>
  tasks.map((task) => core.run(task));

/** How a task ended: 'ok' or the code of its error. */
export function codeOf(end: PromiseSettledResult<RawResult>): string {
  if (end.status === 'fulfilled') return 'ok';
  return end.reason instanceof LatticeError ? end.reason.code : String(end.reason);
}
