/**
 * A worker runs images: it is the addon in this process, or a worker process at the other end of a socket. Its calls
 * may reject as those of a detector, and also with `WorkerLost`.
 */
import type { LatticeError } from '../api/errors.js';
import type { WorkerStats } from '../api/schemas/statistics.js';
import type { Detector } from './detector.js';

/**
 * Images that a worker may have in hand, by kind; a picture in tiles counts as several, and the last may be too many.
 */
export interface WorkerSlots {
  sync: number;
  async: number;
}

export interface Worker extends Pick<
  Detector,
  'workerId' | 'detect' | 'prepare' | 'models' | 'reloadModels' | 'keepModels' | 'unhealthy'
> {
  /** The machine, as the cluster names it. */
  readonly nodeId: string;
  readonly slots: WorkerSlots;
  /** Synchronous images that it decodes and computes at the same time, at least 1; others in hand wait for files. */
  readonly syncParallel: number;
  /** Images in hand that wait for their model to be loaded; they take no slot. */
  readonly loading?: WorkerSlots;
  /** Model name -> digest of its file on the worker's node. Left out where that is the service's own file. */
  readonly modelDigests?: Readonly<Record<string, string>>;
  /** True from the moment it takes no more images; those in hand it still answers. */
  readonly leaving: boolean;
  stats(): WorkerStats;
  /**
   * The worker lacks the image `path`: its own error when the service has it, null when the service lacks it too. Never
   * rejects. Left out where both read the same folders.
   */
  refusalOf?(path: string): Promise<LatticeError | null>;
  /** Releases the worker; open promises settle. Idempotent. */
  close(): Promise<void>;
}

/** The worker went before it answered. Whether the image was run is not known; it may be run again. */
export class WorkerLost extends Error {
  override readonly name = 'WorkerLost';
}
