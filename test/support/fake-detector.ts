/** Detector without a network: how long a picture takes and what becomes of it is the test's choice. */
import { LatticeError, type ErrorCode } from '../../src/api/errors.js';
import type { DetectorStats } from '../../src/api/schemas/statistics.js';
import type { Detection, ImageResult } from '../../src/api/schemas/image.js';
import type { ModelDescription, ModelVersion } from '../../src/api/schemas/model.js';
import { packFound } from '../../src/boxes/found-boxes.js';
import type { DetectRequest, Detector } from '../../src/execution/detector.js';
import { foundIn } from './found-in.js';

const IMAGE = { width: 640, height: 480 };

export type FakeAnswer = 'ok' | 'hang' | ErrorCode;

export class FakeDetector implements Detector {
  readonly workerId: string = 'fake-1';
  /** Every request, in the order of arrival. */
  readonly requests: DetectRequest[] = [];
  delayMs = 0;
  window = 8;
  imagesPerSecond = 0;
  answer: (request: DetectRequest) => FakeAnswer = () => 'ok';
  /** It has no models. */
  keepModels: (versions: readonly ModelVersion[]) => void = () => undefined;
  inFlight = 0;
  /** Most requests that were in flight at a time. */
  peak = 0;
  aborted = 0;

  async detect(request: DetectRequest): Promise<ImageResult> {
    this.requests.push(request);
    this.inFlight += 1;
    this.peak = Math.max(this.peak, this.inFlight);
    try {
      const answer = this.answer(request);
      await this.#wait(answer === 'hang' ? null : this.delayMs, request.signal);
      if (answer !== 'ok' && answer !== 'hang') throw new LatticeError(answer, `fake ${answer}`);
      return this.#result(request);
    } finally {
      this.inFlight -= 1;
    }
  }

  get paths(): string[] {
    return this.requests.map(({ path }) => path);
  }

  prepare(modelName: string): Promise<ModelDescription> {
    return Promise.reject(new LatticeError('unknown_model', `The fake has no '${modelName}'.`));
  }

  models(): Promise<ModelDescription[]> {
    return Promise.resolve([]);
  }

  reloadModels(): Promise<void> {
    return Promise.resolve();
  }

  readImage(): Promise<Buffer> {
    return Promise.reject(new LatticeError('image_not_found', 'The fake has no files.'));
  }

  decodeImage(): Promise<never> {
    return Promise.reject(new LatticeError('invalid_image', 'The fake decodes nothing.'));
  }

  stats(): DetectorStats {
    return {
      device: 'fake',
      gpus: 0,
      precision: 'f32',
      reason: 'test',
      queuedSync: 0,
      queuedAsync: 0,
      heldBytes: 0,
      hangingFolders: 0,
      inFlight: this.inFlight,
      completed: 0,
      failed: 0,
      waitingSync: 0,
      inHandSync: 0,
      inHandAsync: 0,
      imagesPerSecond: this.imagesPerSecond,
      modelSwaps: 0,
      refusedModelFiles: 0,
      suggestedWindow: this.window,
    };
  }

  unhealthy(): LatticeError | null {
    return null;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Null waits for the signal alone. */
  #wait(ms: number | null, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = ms === null ? undefined : setTimeout(resolve, ms);
      const cancel = () => {
        clearTimeout(timer);
        this.aborted += 1;
        reject(new LatticeError('cancelled', 'The request was taken back.'));
      };
      if (signal?.aborted === true) cancel();
      else signal?.addEventListener('abort', cancel, { once: true });
    });
  }

  #result({ path, options, scoreFloor }: DetectRequest): ImageResult {
    const detections: Detection[] = [
      { box: [1, 2, 3, path.length], confidence: 0.9, class: 'car' },
    ];
    return {
      detections,
      image: IMAGE,
      ...(scoreFloor !== undefined && { found: packFound(foundIn(IMAGE, detections)) }),
      timingsMs: { queue: 0, decode: 1, preprocess: 1, inference: 1, postprocess: 1 },
      processingTimeMs: 4,
      model: options.modelName,
      workerId: this.workerId,
      truncated: false,
    };
  }
}
