/**
 * A worker process at the other end of a socket, as a lane. Each image handed out is a lease with a number of its
 * own; an answer to a lease that is not open is refused and counted.
 */
import { toLatticeError, type LatticeError } from '../../errors.js';
import type { WorkerStats } from '../../contract/detector-stats.js';
import type { ImageResult } from '../../contract/image-result.js';
import type { ModelDescription } from '../../contract/model-description.js';
import type { DetectRequest } from '../detector.js';
import { aged } from '../gpu-readings.js';
import { WorkerLost, type Worker, type WorkerSlots } from '../worker.js';
import {
  fromWireError,
  type Hello,
  type ServiceFrame,
  type WorkerFrame,
  type WorkerState,
} from '../wire/frames.js';
import { decodeResult } from '../wire/result-frame.js';
import { Calls } from './calls.js';

export interface LaneSocket {
  send(data: string): void;
  close(code: number, reason: string): void;
}

export interface RemoteLaneParts {
  hello: Hello;
  socket: LaneSocket;
  /** Numbers never given out before, by this process or the one before it. */
  nextLease(): number;
  onStale(): void;
}

interface Lease {
  modelName: string;
  handedOutAt: number;
  resolve(result: ImageResult): void;
  reject(error: Error): void;
  signal: AbortSignal | undefined;
  onAbort: () => void;
}

/** The worker may go on with it, but its images are not waited for. */
const GOES = new Set(['shutting_down', 'gpu_lost']);
const SHORT_CALL_MS = 3_000;
/** A model may have to be compiled first. */
const LONG_CALL_MS = 60_000;

export class RemoteLane implements Worker {
  readonly workerId: string;
  readonly nodeId: string;
  readonly host: string;
  readonly instance: string;
  readonly #parts: RemoteLaneParts;
  readonly #leases = new Map<number, Lease>();
  readonly #calls: Calls;
  #state: WorkerState;
  #stateAt = performance.now();
  #leaving = false;
  #lost: WorkerLost | null = null;

  constructor(parts: RemoteLaneParts) {
    const { hello } = parts;
    this.workerId = hello.workerId;
    this.nodeId = hello.nodeId;
    this.host = hello.host;
    this.instance = hello.instance;
    this.#state = hello.state;
    this.#parts = parts;
    this.#calls = new Calls((frame) => {
      this.#send(frame);
    });
  }

  get slots(): WorkerSlots {
    return this.#state.slots;
  }

  get leaving(): boolean {
    return this.#leaving;
  }

  get inHand(): number {
    return this.#leases.size;
  }

  /** Milliseconds since the oldest open lease was handed out; 0 without one. */
  get oldestLeaseMs(): number {
    const [oldest] = this.#leases.values();
    return oldest === undefined ? 0 : performance.now() - oldest.handedOutAt;
  }

  detect({ path, options, class: kind, priority, deadlineMs, signal }: DetectRequest) {
    const { modelName } = options;
    const lease = this.#parts.nextLease();
    return new Promise<ImageResult>((resolve, reject) => {
      if (this.#lost !== null) {
        reject(this.#lost);
        return;
      }
      const onAbort = () => {
        this.#send({ type: 'cancel', lease });
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      const handedOutAt = performance.now();
      this.#leases.set(lease, { modelName, handedOutAt, resolve, reject, signal, onAbort });
      this.#send({
        type: 'detect',
        lease,
        path,
        options,
        class: kind,
        priority: priority ?? 0,
        ...(deadlineMs === undefined ? {} : { deadlineMs }),
      });
    });
  }

  async prepare(modelName: string): Promise<ModelDescription> {
    const [model] = await this.#calls.ask(
      (call) => ({ type: 'prepare', call, modelName }),
      LONG_CALL_MS,
    );
    if (model === undefined) throw new WorkerLost('The worker did not say what the model is.');
    return model;
  }

  models(): Promise<ModelDescription[]> {
    return this.#calls.ask((call) => ({ type: 'models', call }), SHORT_CALL_MS);
  }

  stats(): WorkerStats {
    const { stats } = this.#state;
    if (stats.gpuReadings === undefined) return stats;
    return { ...stats, gpuReadings: aged(stats.gpuReadings, performance.now() - this.#stateAt) };
  }

  unhealthy(): LatticeError | null {
    return this.#state.fault === null ? null : fromWireError(this.#state.fault);
  }

  /** Any frame of the worker but its hello. */
  receive(frame: Exclude<WorkerFrame, Hello>): void {
    if (frame.type === 'state') {
      this.#state = frame.state;
      this.#stateAt = performance.now();
    } else if (frame.type === 'draining') this.#leaving = true;
    else if (frame.type === 'answer') this.#calls.answer(frame);
    else {
      const lease = this.#close(frame.lease);
      if (GOES.has(frame.error.code)) {
        this.#leaving = true;
        lease?.reject(new WorkerLost(frame.error.detail));
      } else lease?.reject(fromWireError(frame.error));
    }
  }

  /** False for bytes that are no result. */
  receiveResult(bytes: Buffer): boolean {
    const frame = decodeResult(bytes);
    if (frame === null) return false;
    const lease = this.#close(frame.lease);
    lease?.resolve({ ...frame.result, model: lease.modelName, workerId: this.workerId });
    return true;
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
    this.#parts.socket.close(1001, 'The service is stopping.');
    return Promise.resolve();
  }

  #close(number: number): Lease | null {
    const lease = this.#leases.get(number);
    if (lease === undefined) {
      this.#parts.onStale();
      return null;
    }
    this.#leases.delete(number);
    lease.signal?.removeEventListener('abort', lease.onAbort);
    return lease;
  }

  #send(frame: ServiceFrame): void {
    if (this.#lost !== null) return;
    try {
      this.#parts.socket.send(JSON.stringify(frame));
    } catch (thrown) {
      this.lose(toLatticeError(thrown).message);
    }
  }
}
