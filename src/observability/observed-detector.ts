/** A detector whose images are counted and timed. */
import { toLatticeError } from '../errors.js';
import type { DetectorStats } from '../contract/detector-stats.js';
import type { ImageResult } from '../contract/image-result.js';
import type { ModelDescription } from '../contract/model-description.js';
import type { DetectRequest, Detector } from '../execution/detector.js';
import type { LatticeError } from '../errors.js';
import type { Metrics } from './metrics.js';

/** Hands everything through unchanged. */
export class ObservedDetector implements Detector {
  private readonly inner: Detector;
  private readonly metrics: Pick<Metrics, 'observeImage'>;

  constructor(inner: Detector, metrics: Pick<Metrics, 'observeImage'>) {
    this.inner = inner;
    this.metrics = metrics;
  }

  get workerId(): string {
    return this.inner.workerId;
  }

  async detect(request: DetectRequest): Promise<ImageResult> {
    try {
      const result = await this.inner.detect(request);
      this.metrics.observeImage('ok', result.timingsMs);
      return result;
    } catch (error) {
      this.metrics.observeImage(toLatticeError(error).code, null);
      throw error;
    }
  }

  prepare(modelName: string): Promise<ModelDescription> {
    return this.inner.prepare(modelName);
  }

  models(): Promise<ModelDescription[]> {
    return this.inner.models();
  }

  readImage(path: string): Promise<Buffer> {
    return this.inner.readImage(path);
  }

  stats(): DetectorStats {
    return this.inner.stats();
  }

  unhealthy(): LatticeError | null {
    return this.inner.unhealthy();
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
