/** The worker's side of one connection: runs what the service sends through a detector and answers it. */
import { ERRORS, LatticeError, toLatticeError } from '../../api/errors.js';
import type { ModelDescription } from '../../api/schemas/model.js';
import type { Detector } from '../detector.js';
import type { Worker } from '../worker.js';
import {
  toWireError,
  type DetectFrame,
  type SentByWorker,
  type SentState,
  type ServiceFrame,
} from '../wire/frames.js';

export interface SessionParts {
  detector: Pick<
    Worker,
    | 'detect'
    | 'prepare'
    | 'models'
    | 'reloadModels'
    | 'keepModels'
    | 'stats'
    | 'slots'
    | 'syncParallel'
    | 'unhealthy'
  > &
    Pick<Detector, 'readImage'>;
  nodeId: string;
  /** Digests of the model files of this node. */
  modelDigests(): Readonly<Record<string, string>>;
  /** Must not throw. */
  send(frame: SentByWorker): void;
}

export class WorkerSession {
  readonly #parts: SessionParts;
  readonly #inHand = new Map<number, AbortController>();
  #ended = false;
  /** The announced request, whose image is the next frame. */
  #announced: DetectFrame | null = null;
  #idle: () => void = () => undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** False when the image that the last frame announced should have come instead. */
  receive(frame: ServiceFrame): boolean {
    if (this.#announced !== null) return false;
    switch (frame.type) {
      case 'detect':
        if (frame.imageBytes === undefined) void this.#detect(frame);
        else this.#announced = frame;
        break;
      case 'cancel':
        this.#inHand.get(frame.lease)?.abort();
        break;
      case 'prepare':
        void this.#answer(frame.call, async () => [
          await this.#parts.detector.prepare(frame.modelName),
        ]);
        break;
      case 'models':
        void this.#answer(frame.call, () => this.#parts.detector.models());
        break;
      case 'look':
        void this.#answer(frame.call, async () => {
          await this.#parts.detector.readImage(frame.path);
          return [];
        });
        break;
      case 'reload':
        void this.#answer(frame.call, async () => {
          await this.#parts.detector.reloadModels();
          return [];
        });
        break;
      case 'keep':
        this.#parts.detector.keepModels(frame.models);
        break;
      case 'welcome':
        break;
    }
    return true;
  }

  /** False when no image of this length was announced. */
  receiveImage(image: Buffer): boolean {
    const frame = this.#announced;
    this.#announced = null;
    if (frame?.imageBytes !== image.length) return false;
    void this.#detect(frame, image);
    return true;
  }

  sendState(): void {
    this.#send({ type: 'state', state: stateToSend(this.#parts) });
  }

  /** Tells the service to send no more; resolves when the last image in hand is answered, or at the deadline. */
  async drain(deadlineMs: number): Promise<void> {
    this.#send({ type: 'draining' });
    if (this.#inHand.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
      setTimeout(resolve, deadlineMs).unref();
    });
  }

  /** The connection is lost: what is in hand is cancelled. */
  end(): void {
    this.#ended = true;
    for (const abort of this.#inHand.values()) abort.abort();
  }

  async #detect({ lease, request }: DetectFrame, image?: Buffer) {
    const abort = new AbortController();
    this.#inHand.set(lease, abort);
    const { signal } = abort;
    try {
      const { found, look, descriptors, ...result } = await this.#parts.detector.detect({
        ...request,
        ...(image === undefined ? {} : { image }),
        signal,
      });
      const packed = {
        ...(found && { found: textOf(found) }),
        ...(look && { look: { ...look, grey: textOf(look.grey) } }),
        ...(descriptors && { descriptors: textOf(descriptors) }),
      };
      this.#send({ type: 'result', lease, result, ...packed });
    } catch (thrown) {
      const error = toWireError(this.#withNode(toLatticeError(thrown)));
      this.#send({ type: 'failed', lease, error });
    } finally {
      this.#inHand.delete(lease);
      if (this.#inHand.size === 0) this.#idle();
    }
  }

  /** Adds the name of the machine to errors that depend on it. */
  #withNode(error: LatticeError): LatticeError {
    if (ERRORS[error.code].ofNode !== true) return error;
    return new LatticeError(error.code, `${error.message} (node ${this.#parts.nodeId})`);
  }

  async #answer(call: number, ask: () => Promise<ModelDescription[]>): Promise<void> {
    try {
      // One model per frame: a long list of classes must not make the frame too large.
      for (const model of await ask()) this.#send({ type: 'answer', call, model, more: true });
      this.#send({ type: 'answer', call, more: false });
    } catch (thrown) {
      const error = toWireError(toLatticeError(thrown));
      this.#send({ type: 'answer', call, error, more: false });
    }
  }

  #send(frame: SentByWorker): void {
    if (!this.#ended) this.#parts.send(frame);
  }
}

export function stateToSend({
  detector,
  modelDigests,
}: Pick<SessionParts, 'detector' | 'modelDigests'>): SentState {
  const fault = detector.unhealthy();
  return {
    slots: detector.slots,
    syncParallel: detector.syncParallel,
    stats: detector.stats(),
    modelDigests: modelDigests(),
    fault: fault === null ? null : toWireError(fault),
  };
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
