/** The detector of this process as a lane. It orders its own queue, so that nothing need wait before it. */
import type { LatticeError } from '../../errors.js';
import type { DetectorStats } from '../../contract/detector-stats.js';
import type { ImageResult } from '../../contract/image-result.js';
import type { ModelDescription } from '../../contract/model-description.js';
import type { DetectRequest, Detector } from '../detector.js';
import type { Lane, LaneSlots } from '../lane.js';

export class EmbeddedLane implements Lane {
  readonly nodeId: string;
  readonly slots: LaneSlots = { sync: Infinity, async: Infinity };
  readonly leaving = false;
  readonly #detector: Detector;

  /** Owns the detector. */
  constructor(detector: Detector, nodeId: string) {
    this.#detector = detector;
    this.nodeId = nodeId;
  }

  get workerId(): string {
    return this.#detector.workerId;
  }

  run(request: DetectRequest): Promise<ImageResult> {
    return this.#detector.detect(request);
  }

  prepare(modelName: string): Promise<ModelDescription> {
    return this.#detector.prepare(modelName);
  }

  models(): Promise<ModelDescription[]> {
    return this.#detector.models();
  }

  stats(): DetectorStats {
    return this.#detector.stats();
  }

  unhealthy(): LatticeError | null {
    return this.#detector.unhealthy();
  }

  close(): Promise<void> {
    return this.#detector.close();
  }
}
