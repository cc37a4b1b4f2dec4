/** One socket of a worker: it joins the executor with its hello, and is given up when it falls silent. */
import type { Executor } from '../executor.js';
import type { Logger } from '../../base/logger-port.js';
import { modelFaults } from '../worker-models.js';
import {
  CLOSE,
  readGreeting,
  readHello,
  QUIET_PINGS,
  readWorkerFrame,
  SILENCE_MS,
  type Greeting,
  type Hello,
} from '../wire/frames.js';
import { RemoteWorker, type FrameSocket } from './remote-worker.js';

/**
 * The socket to the worker. Nothing here throws; a frame that cannot be sent is answered by the close of the socket.
 */
export interface WorkerSocket extends FrameSocket {
  ping(): void;
  /** Closes at once, because the other end may be gone. */
  terminate(): void;
}

export interface ConnectionParts {
  /** Version of this package: a worker of another one may see other boxes. */
  build: string;
  roots: readonly string[];
  executor: Pick<
    Executor,
    'join' | 'leave' | 'refresh' | 'events' | 'readImage' | 'knownImage' | 'modelDigests'
  >;
  logger: Logger;
  onJoined?(workerId: string): void;
  /** A worker disconnected with images in hand or without announcing it, or was given up. */
  onLost?(workerId: string, reason: string): void;
  silenceMs?: number;
  leaseMs?: number;
  graceMs?: number;
}

/** Limit for an image without a deadline: an engine may have to be built before it runs. */
const LEASE_MS = 15 * 60_000;
/** A worker answers deadlines by itself; one that is this late hangs. */
const GRACE_MS = 30_000;

/** The gate. */
interface Owner {
  hello(worker: RemoteWorker): void;
  /** `why` is a sentence. */
  refused(worker: Pick<Greeting, 'workerId' | 'nodeId'>, why: string): void;
  /**
   * Called when the worker disconnected with images in hand or without announcing it, or was given up. `why` is a
   * sentence.
   */
  lost(worker: RemoteWorker, why: string): void;
  gone(): void;
}

export class WorkerConnection {
  worker: RemoteWorker | null = null;
  readonly #socket: WorkerSocket;
  readonly #parts: ConnectionParts;
  readonly #owner: Owner;
  #heardAt = performance.now();
  /** Pings since then. */
  #unheard = 0;
  #ended = false;
  #modelFaults = '';

  constructor(socket: WorkerSocket, parts: ConnectionParts, owner: Owner) {
    this.#socket = socket;
    this.#parts = parts;
    this.#owner = owner;
  }

  /** Any sign of life. */
  heard(): void {
    this.#heardAt = performance.now();
    this.#unheard = 0;
    this.worker?.heard();
  }

  /** A text from the worker. */
  receive(text: string): void {
    this.heard();
    if (this.worker === null) this.#receiveHello(text);
    else this.#receiveFrame(text, this.worker);
  }

  #receiveHello(text: string): void {
    if (this.#ended) return;
    const greeting = readGreeting(text).frame;
    if (greeting !== null && greeting.build !== this.#parts.build) {
      this.#refuseBuild(greeting);
      return;
    }
    const { frame, fault } = readHello(text);
    if (frame === null) this.#refuseFrame(greeting ?? {}, fault);
    else this.#welcome(frame);
  }

  #receiveFrame(text: string, worker: RemoteWorker): void {
    const { frame, fault } = readWorkerFrame(text);
    if (this.#ended) {
      // The worker was given up, but its answers may still arrive.
      if (frame?.type === 'result') this.#parts.executor.events.stale += 1;
    } else if (frame === null) this.#refuseFrame(worker, fault);
    else {
      worker.receive(frame);
      if (frame.type !== 'state') return;
      this.#parts.executor.refresh();
      this.#noteModels(worker);
    }
  }

  /** The socket is closed. */
  disconnected(reason: string): void {
    this.end(null, reason);
  }

  beat(): void {
    const { silenceMs = SILENCE_MS } = this.#parts;
    const silentMs = performance.now() - this.#heardAt;
    // Pings are counted: a service that was late itself hears of the worker before its next one.
    const isQuiet = this.#unheard >= QUIET_PINGS;
    if (silentMs > silenceMs && isQuiet) this.end(CLOSE.silent, 'Silent too long.');
    else if (this.worker?.isOverdue === true) this.end(CLOSE.silent, 'An image took too long.');
    else {
      this.#socket.ping();
      this.#unheard += 1;
      if (this.#unheard >= QUIET_PINGS) this.worker?.quiet(silentMs);
      const ill = this.worker?.unhealthy();
      if (ill?.code === 'volume_unavailable') void this.#checkVolumes(null);
    }
  }

  /** Images of a worker that is healthy again run at once. */
  async #checkVolumes(known: string | null): Promise<void> {
    await this.worker?.checkVolumes(known);
    if (!this.#ended) this.#parts.executor.refresh();
  }

  #welcome(hello: Hello): void {
    const { logger, leaseMs = LEASE_MS, graceMs = GRACE_MS } = this.#parts;
    const { workerId, nodeId, host } = hello;
    this.#warnOfRoots(hello);
    const worker = new RemoteWorker({
      hello,
      socket: this.#socket,
      events: this.#parts.executor.events,
      openHere: (path) => this.#parts.executor.readImage(path),
      logger,
      leaseMs,
      graceMs,
    });
    this.worker = worker;
    this.#owner.hello(worker);
    this.#socket.send(JSON.stringify({ type: 'welcome' }));
    const { device, precision } = hello.state.stats;
    const about = { workerId, nodeId, host, workerPid: hello.pid, device, precision };
    logger.info(about, 'a worker joined');
    this.#parts.onJoined?.(workerId);
    this.#parts.executor.join(worker);
    void this.#checkVolumes(this.#parts.executor.knownImage);
    this.#noteModels(worker);
  }

  #refuseBuild({ workerId, nodeId, host, build }: Greeting): void {
    const found = `the service is version ${this.#parts.build}, the worker ${build}`;
    this.#parts.logger.error({ workerId, nodeId, host }, `a worker was refused: ${found}`);
    const why = `Worker ${workerId} on ${host} was refused: ${found}.`;
    this.#owner.refused({ workerId, nodeId }, why);
    // The reason of a close has 123 bytes at most.
    this.end(CLOSE.otherBuild, `Other version: ${found}.`.slice(0, 120));
  }

  #refuseFrame({ workerId, nodeId }: Partial<Greeting>, fault: string): void {
    this.#parts.logger.warn({ workerId, nodeId, fault }, 'a frame of a worker was refused');
    this.end(CLOSE.badFrame, 'Not a frame.');
  }

  /** Logs one line per change. */
  #noteModels({ workerId, nodeId, modelDigests }: RemoteWorker): void {
    const faults = modelFaults(modelDigests, this.#parts.executor.modelDigests());
    const text = faults.join(' ');
    if (text === this.#modelFaults) return;
    this.#modelFaults = text;
    const { logger } = this.#parts;
    if (text === '')
      logger.info({ workerId, nodeId }, 'the models of a worker are those of the service');
    else
      logger.warn(
        { workerId, nodeId, faults },
        'the models of a worker are not those of the service',
      );
  }

  #warnOfRoots({ workerId, nodeId, roots }: Hello): void {
    const readable = roots.filter((root) => root.readable).map(({ path }) => path);
    const missing = this.#parts.roots.filter((root) => !readable.includes(root));
    if (missing.length === 0) return;
    this.#parts.logger.warn(
      { workerId, nodeId, missing, roots },
      'a worker cannot read all image roots of the service',
    );
  }

  /** Code null: the socket is closed already. */
  end(code: number | null, reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#owner.gone();
    const { worker } = this;
    if (worker !== null) {
      const { workerId, nodeId, inHand } = worker;
      const drained = worker.leaving && inHand === 0;
      this.#parts.executor.leave(worker);
      worker.lose(reason);
      this.#parts.logger[drained ? 'info' : 'warn'](
        { workerId, nodeId, inHand, reason },
        drained ? 'a worker left' : 'a worker was lost',
      );
      if (!drained) {
        this.#parts.executor.events.lost += 1;
        // The process that opened another socket is well.
        if (code !== CLOSE.replaced) this.#owner.lost(worker, reason);
      }
    }
    if (code === CLOSE.silent) this.#socket.terminate();
    else if (code !== null) this.#socket.close(code, reason);
  }
}
