/** A place that runs images: this process, or a worker process at the other end of a socket. */
import type { LatticeError } from '../errors.js';
import type { DetectorStats } from '../contract/detector-stats.js';
import type { ImageResult } from '../contract/image-result.js';
import type { ModelDescription } from '../contract/model-description.js';
import type { DetectRequest } from './detector.js';

/** Images that a lane may have in hand. Synchronous ones come on top of those of jobs. */
export interface LaneSlots {
  sync: number;
  async: number;
}

export interface Lane {
  readonly workerId: string;
  /** The machine, as the cluster names it. */
  readonly nodeId: string;
  readonly slots: LaneSlots;
  /** True from the moment it takes no more work; what it has in hand, it still answers. */
  readonly leaving: boolean;
  /** Rejects with a `LatticeError`, or with `LaneLost` when the lane went before it answered. */
  run(request: DetectRequest): Promise<ImageResult>;
  /** As `Detector`; may reject with `LaneLost` too. */
  prepare(modelName: string): Promise<ModelDescription>;
  models(): Promise<ModelDescription[]>;
  stats(): DetectorStats;
  unhealthy(): LatticeError | null;
  /** Lets go of the worker; open promises settle. Idempotent. */
  close(): Promise<void>;
}

/** The lane went before it answered: whether the image was run is not known, and it may be run again. */
export class LaneLost extends Error {
  override readonly name = 'LaneLost';
}
