/** Detector that answers what a test scripts; one car for every picture by default. */
import { LatticeError } from '../../src/api/errors.js';
import type { DetectorStats } from '../../src/api/schemas/statistics.js';
import type { ImageResult } from '../../src/api/schemas/image.js';
import type { ModelDescription } from '../../src/api/schemas/model.js';
import type { DetectRequest, Detector } from '../../src/execution/detector.js';

export const CLASSES = ['person', 'bicycle', 'Car', 'motorcycle', 'bus', 'truck'];

export const oneCar: ImageResult = {
  detections: [{ box: [10.5, 20, 110, 90.25], confidence: 0.91, class: 'car' }],
  image: { width: 640, height: 480 },
  timingsMs: { queue: 0.1, decode: 2, preprocess: 0.4, inference: 12.9, postprocess: 0.3 },
  processingTimeMs: 15.7,
  model: 'yolov8n.pt',
  workerId: 'worker-1',
  truncated: false,
};

export class ScriptedDetector implements Detector {
  readonly workerId = 'worker-1';
  /** As a worker. */
  readonly slots = { sync: 8, async: 8 };
  readonly syncParallel = 1;
  readonly requests: DetectRequest[] = [];
  answer: (request: DetectRequest) => Promise<ImageResult> = () => Promise.resolve(oneCar);
  fault: LatticeError | null = null;
  rate = 0;
  /** Classes of the model; none: nobody can say which. */
  classes = CLASSES;
  /** Confidence threshold of the models. */
  threshold = 0.5;

  detect(request: DetectRequest): Promise<ImageResult> {
    this.requests.push(request);
    return this.answer(request);
  }

  prepare(modelName: string): Promise<ModelDescription> {
    const [model] = this.#models();
    if (model?.name === modelName) return Promise.resolve(model);
    return Promise.reject(
      new LatticeError('unknown_model', `No model ${modelName}. There is: yolov8n.pt.`),
    );
  }

  models(): Promise<ModelDescription[]> {
    return Promise.resolve(this.#models());
  }

  reloadModels(): Promise<void> {
    return Promise.resolve();
  }

  keepModels(): void {
    // It has no models.
  }

  readImage(): Promise<Buffer> {
    return Promise.reject(new LatticeError('image_not_found', 'No file.'));
  }

  decodeImage(): Promise<never> {
    return Promise.reject(new LatticeError('invalid_image', 'No decoder.'));
  }

  stats(): DetectorStats {
    return {
      device: 'cpu',
      gpus: 0,
      precision: 'f32',
      reason: 'scripted',
      queuedSync: 0,
      queuedAsync: 0,
      heldBytes: 0,
      hangingFolders: 0,
      inFlight: 0,
      completed: 0,
      failed: 0,
      waitingSync: 0,
      inHandSync: 0,
      inHandAsync: 0,
      imagesPerSecond: this.rate,
      modelSwaps: 0,
      refusedModelFiles: 0,
      suggestedWindow: 8,
    };
  }

  unhealthy(): LatticeError | null {
    return this.fault;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #models(): ModelDescription[] {
    const common = {
      device: 'cpu',
      precision: 'f32',
      digest: null,
      quantizedFrom: null,
      aliasOf: null,
      release: null,
      input: { width: 640, height: 640 },
      memoryBytes: 1e8,
      licence: 'Apache-2.0',
      confidenceThreshold: this.threshold,
    };
    return [
      {
        ...common,
        name: 'yolov8n.pt',
        state: 'ready',
        reason: null,
        agreement: 0.997,
        classes: this.classes,
        bundled: true,
        isDefault: true,
      },
      {
        ...common,
        name: 'broken.pt',
        state: 'refused',
        reason: 'The file is damaged.',
        agreement: null,
        classes: [],
        bundled: false,
        isDefault: false,
      },
    ];
  }
}
