/** The detector port over the lanes of a dispatcher: one detector, wherever its images run. */
import type { LatticeError } from '../errors.js';
import type { DetectorStats } from '../contract/detector-stats.js';
import type { ImageResult } from '../contract/image-result.js';
import type { ModelDescription } from '../contract/model-description.js';
import type { DetectRequest, Detector } from './detector.js';
import { Throughput } from './throughput.js';
import { shuttingDown, type Dispatcher } from './dispatcher.js';
import { LaneLost, type Lane } from './lane.js';
import { describeLanes } from './lane-stats.js';
import { mergeModels } from './model-offers.js';

export interface LaneDetectorParts {
  /** What is known of models while no lane is there to ask. */
  catalogue: Pick<Detector, 'models' | 'prepare'>;
  /** Opens images for drawing, by the same rules as detection. */
  readImage(path: string): Promise<Buffer>;
  /** What else ends with the lanes. */
  close?(): Promise<void>;
}

export class LaneDetector implements Detector {
  readonly #dispatcher: Dispatcher;
  readonly #parts: LaneDetectorParts;
  readonly #throughput = new Throughput();
  #completed = 0;
  #failed = 0;
  #closed: Promise<void> | null = null;

  /** Owns the dispatcher and its lanes. */
  constructor(dispatcher: Dispatcher, parts: LaneDetectorParts) {
    this.#dispatcher = dispatcher;
    this.#parts = parts;
  }

  /** Of the only lane; empty while several may run an image. */
  get workerId(): string {
    const [lane, ...more] = this.#lanes();
    return lane === undefined || more.length > 0 ? '' : lane.workerId;
  }

  async detect(request: DetectRequest): Promise<ImageResult> {
    this.#throughput.begin();
    let ok = false;
    try {
      const result = await this.#dispatcher.run(request);
      ok = true;
      return result;
    } finally {
      this.#throughput.end(ok);
      if (ok) this.#completed += 1;
      else this.#failed += 1;
    }
  }

  /** Loads the model where the next request for it may go: in one lane, the others load it when they need it. */
  async prepare(modelName: string): Promise<ModelDescription> {
    if (this.#closed !== null) throw shuttingDown();
    const lane = this.#dispatcher.laneToAsk();
    if (lane === null) return this.#parts.catalogue.prepare(modelName);
    try {
      return await lane.prepare(modelName);
    } catch (thrown) {
      if (!(thrown instanceof LaneLost)) throw thrown;
      return this.#parts.catalogue.prepare(modelName);
    }
  }

  async models(): Promise<ModelDescription[]> {
    const answers = await Promise.allSettled(this.#lanes().map((lane) => lane.models()));
    const offers = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? [answer.value] : [],
    );
    return offers.length === 0 ? this.#parts.catalogue.models() : mergeModels(offers);
  }

  readImage(path: string): Promise<Buffer> {
    if (this.#closed !== null) return Promise.reject(shuttingDown());
    return this.#parts.readImage(path);
  }

  stats(): DetectorStats {
    const { waiting } = this.#dispatcher;
    const lanes = describeLanes(this.#lanes());
    return {
      ...lanes,
      queuedSync: waiting.sync + lanes.queuedSync,
      queuedAsync: waiting.async + lanes.queuedAsync,
      inFlight: this.#throughput.inHand,
      completed: this.#completed,
      failed: this.#failed,
      imagesPerSecond: this.#throughput.perSecond(),
    };
  }

  /** Without a lane, or when no lane is healthy. */
  unhealthy(): LatticeError | null {
    const noLane = this.#dispatcher.noLane();
    if (noLane !== null) return noLane;
    const faults = this.#lanes().map((lane) => lane.unhealthy());
    return faults.includes(null) ? null : (faults[0] ?? null);
  }

  /** Closes the lanes. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#dispatcher.close().then(() => this.#parts.close?.());
    return this.#closed;
  }

  #lanes(): Lane[] {
    return this.#dispatcher.lanes().map(({ lane }) => lane);
  }
}
