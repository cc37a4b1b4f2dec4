/** Shared by the questions: the available model and photos, a service process, an in-process core. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openCore, type Core, type CoreTask } from '../src/native/core.js';
import type { FloatPrecision } from '../src/api/schemas/model.js';
import type { NativeModel } from '../src/native/contract.js';
import {
  hasTestdata,
  PROJECT_ROOT,
  SHARED_TESTDATA,
  startService,
  type ServiceProcess,
} from '../test/support/service-process.js';

export interface Setting {
  /** The file of the network that is computed. */
  modelPath: string;
  imageRoot: string;
  /** Relative to `imageRoot`. */
  photos: string[];
}

/** One figure, with the other side measured in the same run where there is one. */
export interface Measurement {
  what: string;
  value: number;
  unit: string;
  baseline?: { what: string; value: number };
  /** The figure the goal is about, usually value / baseline. */
  ratio?: number;
  goal?: string;
  met?: boolean;
  /** The best that the figure could be here, in its unit: its parts alone, measured in the same run. */
  bound?: { what: string; value: number };
}

/** The bundled detector in 8 bits, and the 640-pixel photos of the shared test data, or else the bundled one. */
export function setting(): Setting {
  const modelPath = join(PROJECT_ROOT, 'models/vehicles-v8n.int8.onnx');
  const photos = join(SHARED_TESTDATA, 'coco128/images');
  return hasTestdata && existsSync(photos)
    ? { modelPath, imageRoot: photos, photos: readdirSync(photos).sort() }
    : { modelPath, imageRoot: join(PROJECT_ROOT, 'models/demo'), photos: ['street.jpg'] };
}

/** The model is the default one. */
export const settingsOf = ({ modelPath, imageRoot }: Setting) => ({
  LATTICE_MODELS_DIR: dirname(modelPath),
  LATTICE_IMAGE_ROOTS: imageRoot,
  LATTICE_PRECISION: 'int8',
});

export function serve(at: Setting, env: Record<string, string> = {}): Promise<ServiceProcess> {
  return startService({ env: { ...settingsOf(at), ...env } });
}

export const LIMITS = { maxPixels: 64_000_000, maxSide: 16_384 };

export interface ComputeSetting {
  threads: number;
  precision: FloatPrecision;
}

export const ON_TWO_THREADS: ComputeSetting = { threads: 2, precision: 'auto' };

export async function openBareCore(
  at: Setting,
  { threads, precision }: ComputeSetting = ON_TWO_THREADS,
): Promise<{ core: Core; model: NativeModel }> {
  const core = openCore({
    roots: [at.imageRoot],
    device: 'cpu',
    threads,
    precision,
    asyncYields: true,
    maxFileBytes: 64 * 1024 * 1024,
    ...LIMITS,
  });
  return { core, model: await core.loadModel(at.modelPath) };
}

/** A task with the service's defaults, without an image and a model. */
export const PLAIN_TASK = {
  path: null,
  priority: 0,
  deadlineMs: 0,
  confidence: 0.5,
  iou: 0.7,
  maxDetections: 300,
  classIds: null,
} as const;

/** A detection of one photo. */
export function photoTask(
  model: NativeModel,
  path: string,
  kind: 'sync' | 'async' = 'sync',
): CoreTask {
  return { ...PLAIN_TASK, modelId: model.modelId, path, kind };
}
