/** What every question shares: the model and photos at hand, a service process, an in-process core. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openCore, type Core } from '../src/native/core.js';
import type { NativeModel, NativeTask } from '../src/native/contract.js';
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

export async function openBareCore(at: Setting): Promise<{ core: Core; model: NativeModel }> {
  const core = openCore({
    roots: [at.imageRoot],
    device: 'cpu',
    precision: at.precision,
    threads: 2,
    asyncYields: true,
    engineCache: '',
    maxFileBytes: 64 * 1024 * 1024,
    maxPixels: 64_000_000,
    maxSide: 16_384,
    crashMarkerPath: '',
  });
  return { core, model: await core.loadModel(at.modelPath) };
}

/** A detection of one photo with the service's defaults. */
export function photoTask(
  model: NativeModel,
  path: string,
  kind: 'sync' | 'async' = 'sync',
): Omit<NativeTask, 'id'> {
  return {
    modelId: model.modelId,
    path,
    kind,
    priority: 0,
    deadlineMs: 0,
    confidence: 0.5,
    iou: 0.7,
    maxDetections: 300,
    classIds: null,
  };
}
