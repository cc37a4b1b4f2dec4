/** Serves with another detector until the real one is ready. */
import type { LatticeError } from '../errors.js';
import type { DetectorStats } from '../contract/detector-stats.js';
import type { ImageResult } from '../contract/image-result.js';
import type { ModelDescription } from '../contract/model-description.js';
import type { DetectRequest, Detector } from './detector.js';
import type { Logger } from '../logger-port.js';

export interface StandInParts {
  detector: Detector;
  standIn: Detector;
  /** Settles when `detector` has tried to become ready; whether it is, its `unhealthy()` says. */
  ready: Promise<unknown>;
  logger: Logger;
}

/**
 * New work goes to the stand-in until the change, to the detector from then on; work in hand ends where it began.
 * A detector that could not become ready never takes over: the stand-in goes on, and the log has said why.
 */
export class StandInDetector implements Detector {
  readonly #parts: StandInParts;
  #current: Detector;
  #closed: Promise<void> | null = null;

  constructor(parts: StandInParts) {
    this.#parts = parts;
    this.#current = parts.standIn;
    parts.logger.warn({}, 'the CPU serves until the engine for the GPU is built');
    void parts.ready.then(() => this.#change());
  }

  get workerId(): string {
    return this.#current.workerId;
  }

  async #change(): Promise<void> {
    const { detector, standIn, logger } = this.#parts;
    if (this.#closed !== null || detector.unhealthy() !== null) return;
    this.#current = detector;
    const { device, precision } = detector.stats();
    logger.info({ device, precision }, 'the engine is built; it serves from now on');
    await idle(standIn);
    await standIn.close();
  }

  detect(request: DetectRequest): Promise<ImageResult> {
    return this.#current.detect(request);
  }

  prepare(modelName: string): Promise<ModelDescription> {
    return this.#current.prepare(modelName);
  }

  models(): Promise<ModelDescription[]> {
    return this.#current.models();
  }

  readImage(path: string): Promise<Buffer> {
    return this.#current.readImage(path);
  }

  stats(): DetectorStats {
    const stats = this.#current.stats();
    if (this.#current === this.#parts.detector) return stats;
    return {
      ...stats,
      reason: `the engine for the GPU is being built; until then ${stats.reason}`,
    };
  }

  unhealthy(): LatticeError | null {
    return this.#current.unhealthy();
  }

  close(): Promise<void> {
    const { detector, standIn } = this.#parts;
    this.#closed ??= Promise.all([standIn.close(), detector.close()]).then(() => undefined);
    return this.#closed;
  }
}

const LOOK_EVERY_MS = 20;

async function idle(detector: Detector): Promise<void> {
  while (detector.stats().inFlight > 0) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
