/** Shared by the questions: the available model and photos, a service process, an in-process core. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openCore, type Core, type CoreTask } from '../src/native/core.js';
import type { NativeModel } from '../src/native/contract.js';
import {
  hasTestdata,
  PROJECT_ROOT,
  SHARED_TESTDATA,
  startService,
  type ServiceProcess,
} from '../test/support/service-process.js';

export interface Setting {
  modelName: string;
  modelPath: string;
  imageRoot: string;
  /** Relative to `imageRoot`. */
  photos: string[];
  precision: 'f32' | 'bf16' | 'auto';
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

/** The public n-size model and 640-pixel photos when the shared test data is there, else what is bundled. */
export function setting(precision: Setting['precision'] = 'auto'): Setting {
  const photos = join(SHARED_TESTDATA, 'coco128/images');
  const model = join(SHARED_TESTDATA, 'models/yolov8n.onnx');
  if (hasTestdata && existsSync(model)) {
    return {
      modelName: 'yolov8n.pt',
      modelPath: model,
      imageRoot: photos,
      photos: readdirSync(photos).sort(),
      precision,
    };
  }
  return {
    modelName: 'yolov8n.pt',
    modelPath: join(PROJECT_ROOT, 'models/tiny/tiny-v8.onnx'),
    imageRoot: join(PROJECT_ROOT, 'models/demo'),
    photos: ['shapes.png'],
    precision,
  };
}

export function serve(at: Setting, env: Record<string, string> = {}): Promise<ServiceProcess> {
  return startService({
    env: {
      LATTICE_MODELS_DIR: join(at.modelPath, '..'),
      LATTICE_IMAGE_ROOTS: at.imageRoot,
      LATTICE_PRECISION: at.precision,
      ...env,
    },
  });
}

/** CPU threads of a bare core. */
export const THREADS = 2;
export const LIMITS = { maxPixels: 64_000_000, maxSide: 16_384 };

export async function openBareCore(at: Setting): Promise<{ core: Core; model: NativeModel }> {
  const core = openCore({
    roots: [at.imageRoot],
    device: 'cpu',
    precision: at.precision,
    threads: THREADS,
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
