/**
 * A worker process at the other end of a socket. Each hand-out of an image is a lease with a number of its own; an
 * answer to a lease that is not open is refused and counted.
 */
import { ERRORS, LatticeError, toLatticeError } from '../../api/errors.js';
import type { WorkerStats } from '../../api/schemas/statistics.js';
import type { ImageResult } from '../../api/schemas/image.js';
import type { ModelDescription, ModelVersion } from '../../api/schemas/model.js';
import type { DetectRequest } from '../detector.js';
import type { Executor } from '../executor.js';
import { OpenQuestions } from '../../base/open-questions.js';
import { WorkerLost, type Worker, type WorkerSlots } from '../worker.js';
import { VolumeProof, type VolumeProofParts } from './volume-proof.js';
import {
  CLOSE,
  type Hello,
  type ReportedState,
  type ServiceFrame,
  type WorkerFrame,
} from '../wire/frames.js';

export interface FrameSocket {
  send(data: string | Buffer): void;
  close(code: number, reason: string): void;
}

export interface RemoteWorkerParts {
  hello: Hello;
  socket: FrameSocket;
  events: Pick<Executor['events'], 'stale'>;
  /** Opens an image on the service, by the rules of detection. */
  openHere: VolumeProofParts['openHere'];
  logger: VolumeProofParts['logger'];
  /** Milliseconds in which an image without a deadline must be answered. */
  leaseMs: number;
  /** Extra time after the deadline of an image that has one. */
  graceMs: number;
}

/** No earlier hand-out had this number, neither in this process nor in an earlier one. */
let lastLease = Date.now() * 1_000;

interface Lease {
  modelName: string;
  kind: DetectRequest['kind'];
  /** The worker hangs when there is no answer by then. */
  dueAt: number;
  resolve(result: ImageResult): void;
  reject(error: Error): void;
  signal: AbortSignal | undefined;
  onAbort: () => void;
}

type Answer = Extract<WorkerFrame, { type: 'answer' }>;
type Question =
  | { type: 'models' }
  | { type: 'reload' }
  | { type: 'prepare'; modelName: string }
  | { type: 'look'; path: string };

const SHORT_CALL_MS = 3_000;
/** A volume that hangs is reported after 5 s. */
const LOOK_MS = 8_000;
/** A model may have to be compiled first. */
const LONG_CALL_MS = 60_000;

export class RemoteWorker implements Worker {
  readonly workerId: string;
  readonly nodeId: string;
  readonly host: string;
  readonly instance: string;
  readonly #parts: RemoteWorkerParts;
  readonly #volumes: VolumeProof;
  readonly #leases = new Map<number, Lease>();
  /** About its models. */
  readonly #calls = new OpenQuestions<ModelDescription[]>();
  /** Models of the answer that is arriving: its frames come one after another. */
  #models: ModelDescription[] = [];
  #state: ReportedState;
  #stateAt = performance.now();
  #leaving = false;
  /** Why it is not to be trusted while nothing is heard of it. */
  #quiet: LatticeError | null = null;
  #lost: WorkerLost | null = null;

  constructor(parts: RemoteWorkerParts) {
    const { hello } = parts;
    this.workerId = hello.workerId;
    this.nodeId = hello.nodeId;
    this.host = hello.host;
    this.instance = hello.instance;
    this.#state = hello.state;
    this.#parts = parts;
    this.#volumes = new VolumeProof({
      workerId: this.workerId,
      nodeId: this.nodeId,
      openHere: parts.openHere,
      openThere: (path) => this.#ask({ type: 'look', path }, LOOK_MS),
      logger: parts.logger,
    });
  }

  get slots(): WorkerSlots {
    return this.#state.slots;
  }

  get syncParallel(): number {
    return this.#state.syncParallel;
  }

  get modelDigests(): Readonly<Record<string, string>> {
    return this.#state.modelDigests;
  }

  get leaving(): boolean {
    return this.#leaving;
  }

  get inHand(): number {
    return this.#leases.size;
  }

  /** Whether an image should have been answered long ago. */
  get isOverdue(): boolean {
    const now = performance.now();
    return [...this.#leases.values()].some(({ dueAt }) => dueAt < now);
  }

  detect({ image, signal, ...request }: DetectRequest) {
    const { leaseMs, graceMs } = this.#parts;
    const { deadlineMs, options } = request;
    const { modelName } = options;
    const lease = ++lastLease;
    return new Promise<ImageResult>((resolve, reject) => {
      if (this.#lost !== null) {
        reject(this.#lost);
        return;
      }
      const onAbort = () => {
        this.#send({ type: 'cancel', lease });
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      const limitMs = deadlineMs === undefined ? leaseMs : deadlineMs + graceMs;
      const dueAt = performance.now() + limitMs;
      this.#leases.set(lease, {
        modelName,
        kind: request.kind,
        dueAt,
        resolve,
        reject,
        signal,
        onAbort,
      });
      if (image === undefined) this.#send({ type: 'detect', lease, request });
      else this.#send({ type: 'detect', lease, request, imageBytes: image.length }, image);
    });
  }

  async prepare(modelName: string): Promise<ModelDescription> {
    const [model] = await this.#ask({ type: 'prepare', modelName }, LONG_CALL_MS);
    if (model === undefined) throw new WorkerLost('The worker did not say what the model is.');
    return model;
  }

  models(): Promise<ModelDescription[]> {
    return this.#ask({ type: 'models' }, SHORT_CALL_MS);
  }

  async reloadModels(): Promise<void> {
    await this.#ask({ type: 'reload' }, LONG_CALL_MS);
  }

  keepModels(models: readonly ModelVersion[]): void {
    this.#send({ type: 'keep', models: [...models] });
  }

  #ask(question: Question, deadlineMs: number): Promise<ModelDescription[]> {
    return this.#calls.ask(
      (call) => {
        this.#send({ ...question, call });
      },
      deadlineMs,
      () => new WorkerLost(`No answer within ${deadlineMs} ms.`),
    );
  }

  stats(): WorkerStats {
    const { stats } = this.#state;
    if (stats.gpuReadings === undefined) return stats;
    const since = (performance.now() - this.#stateAt) / 1_000;
    const gpuReadings = stats.gpuReadings.map((reading) => ({
      ...reading,
      sampleAgeSeconds: reading.sampleAgeSeconds === null ? null : reading.sampleAgeSeconds + since,
    }));
    return { ...stats, gpuReadings };
  }

  unhealthy(): LatticeError | null {
    return this.#quiet ?? this.#state.fault ?? this.#volumes.fault;
  }

  heard(): void {
    this.#quiet = null;
  }

  /**
   * Nothing is heard of it. Its synchronous images go to another worker: their deadlines may pass before it is given
   * up.
   */
  quiet(silentMs: number): void {
    const text = `Nothing was heard of node ${this.nodeId} (host ${this.host}) for ${Math.round(silentMs / 1_000)} s: is it up, and does it reach the service?`;
    const isNew = this.#quiet === null;
    this.#quiet = new LatticeError('worker_lost', text);
    if (isNew) this.#releaseSync(new WorkerLost(text));
  }

  #releaseSync(lost: WorkerLost): void {
    for (const [number, { kind }] of [...this.#leases]) {
      if (kind !== 'sync') continue;
      this.#send({ type: 'cancel', lease: number });
      this.#close(number)?.reject(lost);
    }
  }

  refusalOf(path: string): Promise<LatticeError | null> {
    return this.#volumes.refusalOf(path);
  }

  /** Checks its image folders by `known`, an image that another worker has read, or by the one that it lacked. */
  checkVolumes(known: string | null): Promise<void> {
    return this.#volumes.check(known);
  }

  receive(frame: WorkerFrame): void {
    switch (frame.type) {
      case 'state':
        this.#state = frame.state;
        this.#stateAt = performance.now();
        break;
      case 'draining':
        this.#leaving = true;
        break;
      case 'answer':
        this.#answered(frame);
        break;
      case 'result': {
        const lease = this.#close(frame.lease);
        const model = lease?.modelName ?? '';
        const { found, look, descriptors, result } = frame;
        const packed = {
          ...(found !== undefined && { found: bytesOf(found) }),
          ...(look !== undefined && { look: { ...look, grey: bytesOf(look.grey) } }),
          ...(descriptors !== undefined && { descriptors: bytesOf(descriptors) }),
        };
        lease?.resolve({ ...result, model, workerId: this.workerId, ...packed });
        break;
      }
      case 'failed':
        this.#failed(this.#close(frame.lease), frame.error);
    }
  }

  #answered({ call, model, error, more }: Answer): void {
    if (model !== undefined) this.#models.push(model);
    if (more) return;
    const question = this.#calls.take(call);
    if (error === undefined) question?.resolve(this.#models);
    else question?.reject(error);
    this.#models = [];
  }

  #failed(lease: Lease | null, error: LatticeError): void {
    if (ERRORS[error.code].endsWorker !== true) {
      lease?.reject(error);
      return;
    }
    this.#leaving = true;
    lease?.reject(new WorkerLost(error.message));
  }

  /** The worker is gone or given up: what it had in hand is rejected with `WorkerLost`. */
  lose(reason: string): void {
    if (this.#lost !== null) return;
    this.#lost = new WorkerLost(reason);
    this.#leaving = true;
    for (const number of [...this.#leases.keys()]) this.#close(number)?.reject(this.#lost);
    this.#calls.end(this.#lost);
  }

  close(): Promise<void> {
    this.lose('The service is stopping.');
    this.#parts.socket.close(CLOSE.stopping, 'The service is stopping.');
    return Promise.resolve();
  }

  #close(number: number): Lease | null {
    const lease = this.#leases.get(number);
    if (lease === undefined) {
      this.#parts.events.stale += 1;
      return null;
    }
    this.#leases.delete(number);
    lease.signal?.removeEventListener('abort', lease.onAbort);
    return lease;
  }

  #send(frame: ServiceFrame, image?: Buffer): void {
    if (this.#lost !== null) return;
    try {
      this.#parts.socket.send(JSON.stringify(frame));
      if (image !== undefined) this.#parts.socket.send(image);
    } catch (thrown) {
      this.lose(toLatticeError(thrown).message);
    }
  }
}

/** A copy: small buffers of Node share their memory, and a message to a thread would copy all of it. */
const bytesOf = (base64: string): Uint8Array => Uint8Array.from(Buffer.from(base64, 'base64'));
