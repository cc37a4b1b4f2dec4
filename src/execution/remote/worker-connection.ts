/** One socket of a worker: says who it is, becomes a lane, and is given up when it falls silent. */
import type { Lane } from '../lane.js';
import type { Logger } from '../../logger-port.js';
import {
  CLOSE,
  readGreeting,
  readHello,
  readWorkerFrame,
  SILENCE_MS,
  type Greeting,
  type Hello,
} from '../wire/frames.js';
import { RemoteLane, type LaneSocket } from './remote-lane.js';

/** The worker's end. Nothing here throws; what cannot be sent is answered by the socket's close. */
export interface WorkerSocket extends LaneSocket {
  ping(): void;
  /** Without a farewell: the other end may be gone. */
  terminate(): void;
}

export interface ConnectionParts {
  /** Version of this package: a worker of another one may see other boxes. */
  build: string;
  roots: readonly string[];
  lanes: {
    join(lane: Lane): void;
    leave(lane: Lane): void;
    refresh(): void;
  };
  logger: Logger;
  /** An answer to a lease that was not open. */
  onStale(): void;
  /** A worker went with images in hand, without a word, or was given up. */
  onLost?(workerId: string, reason: string): void;
  silenceMs?: number;
  leaseMs?: number;
  graceMs?: number;
}

/** For an image without a deadline: an engine may be built before it runs. */
const LEASE_MS = 15 * 60_000;
/** A worker answers deadlines by itself; one that is this late hangs. */
const GRACE_MS = 30_000;

/** The gate. */
interface Owner {
  nextLease(): number;
  hello(lane: RemoteLane): void;
  gone(): void;
}

export class WorkerConnection {
  lane: RemoteLane | null = null;
  readonly #socket: WorkerSocket;
  readonly #parts: ConnectionParts;
  readonly #owner: Owner;
  #heardAt = performance.now();
  #ended = false;

  constructor(socket: WorkerSocket, parts: ConnectionParts, owner: Owner) {
    this.#socket = socket;
    this.#parts = parts;
    this.#owner = owner;
  }

  /** Any sign of life. */
  heard(): void {
    this.#heardAt = performance.now();
  }

  /** A text from the worker. */
  receive(text: string): void {
    this.heard();
    if (this.lane === null) this.#receiveHello(text);
    else this.#receiveFrame(text, this.lane);
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

  #receiveFrame(text: string, lane: RemoteLane): void {
    const { frame, fault } = readWorkerFrame(text);
    if (this.#ended) {
      // Given up, but its answers may still be on the way.
      if (frame?.type === 'result') this.#parts.onStale();
    } else if (frame === null) this.#refuseFrame(lane, fault);
    else {
      lane.receive(frame);
      if (frame.type === 'state') this.#parts.lanes.refresh();
    }
  }

  /** The socket is closed. */
  disconnected(reason: string): void {
    this.end(null, reason);
  }

  beat(): void {
    const { silenceMs = SILENCE_MS } = this.#parts;
    if (performance.now() - this.#heardAt > silenceMs) this.end(CLOSE.silent, 'Silent too long.');
    else if (this.lane?.isOverdue === true) this.end(CLOSE.silent, 'An image took too long.');
    else this.#socket.ping();
  }

  #welcome(hello: Hello): void {
    const { logger, leaseMs = LEASE_MS, graceMs = GRACE_MS } = this.#parts;
    const { workerId, nodeId, host } = hello;
    this.#warnOfRoots(hello);
    const lane = new RemoteLane({
      hello,
      socket: this.#socket,
      nextLease: () => this.#owner.nextLease(),
      onStale: () => {
        this.#parts.onStale();
      },
      leaseMs,
      graceMs,
    });
    this.lane = lane;
    this.#owner.hello(lane);
    this.#socket.send(JSON.stringify({ type: 'welcome' }));
    const { device, precision } = hello.state.stats;
    const about = { workerId, nodeId, host, workerPid: hello.pid, device, precision };
    logger.info(about, 'a worker joined');
    this.#parts.lanes.join(lane);
  }

  #refuseBuild({ workerId, nodeId, host, build }: Greeting): void {
    const found = `the service is version ${this.#parts.build}, the worker ${build}`;
    this.#parts.logger.error({ workerId, nodeId, host }, `a worker was refused: ${found}`);
    // The reason of a close has 123 bytes at most.
    this.end(CLOSE.otherBuild, `Other version: ${found}.`.slice(0, 120));
  }

  #refuseFrame({ workerId, nodeId }: Partial<Greeting>, fault: string): void {
    this.#parts.logger.warn({ workerId, nodeId, fault }, 'a frame of a worker was refused');
    this.end(CLOSE.badFrame, 'Not a frame.');
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
    const { lane } = this;
    if (lane !== null) {
      const { workerId, nodeId, inHand } = lane;
      const drained = lane.leaving && inHand === 0;
      this.#parts.lanes.leave(lane);
      lane.lose(reason);
      this.#parts.logger[drained ? 'info' : 'warn'](
        { workerId, nodeId, inHand, reason },
        drained ? 'a worker left' : 'a worker was lost',
      );
      if (!drained) this.#parts.onLost?.(workerId, reason);
    }
    if (code === CLOSE.silent) this.#socket.terminate();
    else if (code !== null) this.#socket.close(code, reason);
  }
}
