/** One socket of a worker: says who it is, becomes a lane, and is given up when it falls silent. */
import type { Worker } from '../worker.js';
import type { Logger } from '../../logger-port.js';
import {
  CLOSE,
  faultOfWorkerFrame,
  PROTOCOL,
  readIntroduction,
  readWorkerFrame,
  SILENCE_MS,
  type Hello,
  type Introduction,
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
    join(lane: Worker): void;
    leave(lane: Worker): void;
    refresh(): void;
  };
  logger: Logger;
  /** An answer to a lease that was not open. */
  onStale(): void;
  onLost?(): void;
  silenceMs?: number;
  leaseMs?: number;
}

/** An image that takes longer has hung its worker; an engine may be built before the first one. */
const LEASE_MS = 15 * 60_000;

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

  /** A frame of the worker. */
  receive(data: string | Buffer): void {
    if (this.#ended) {
      // Given up, but its answers may still be on the way.
      if (typeof data !== 'string') this.#parts.onStale();
      return;
    }
    this.heard();
    const { lane } = this;
    if (typeof data !== 'string') {
      if (lane?.receiveResult(data) !== true) this.#refuseFrame('Not a result.');
      return;
    }
    const frame = readWorkerFrame(data);
    if (frame === null) this.#refuseText(data);
    else if (frame.type === 'hello') this.#welcome(frame);
    else if (lane === null) this.#refuseFrame('The first frame is hello.');
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
    const { silenceMs = SILENCE_MS, leaseMs = LEASE_MS } = this.#parts;
    if (performance.now() - this.#heardAt > silenceMs) this.end(CLOSE.silent, 'Silent too long.');
    else if ((this.lane?.oldestLeaseMs ?? 0) > leaseMs) {
      this.end(CLOSE.silent, 'An image took too long.');
    } else this.#socket.ping();
  }

  #welcome(hello: Hello): void {
    const { logger } = this.#parts;
    const { workerId, nodeId, host } = hello;
    if (this.#isOther(hello)) {
      this.#refuseBuild(hello);
      return;
    }
    if (this.lane !== null) {
      this.#refuseFrame('A second hello.');
      return;
    }
    this.#warnOfRoots(hello);
    const lane = new RemoteLane({
      hello,
      socket: this.#socket,
      nextLease: () => this.#owner.nextLease(),
      onStale: () => {
        this.#parts.onStale();
      },
    });
    this.lane = lane;
    this.#owner.hello(lane);
    this.#socket.send(JSON.stringify({ type: 'welcome' }));
    const { device, precision } = hello.state.stats;
    logger.info({ workerId, nodeId, host, device, precision }, 'a worker joined');
    this.#parts.lanes.join(lane);
  }

  /** Another version's hello may have another shape. */
  #refuseText(text: string): void {
    const from = readIntroduction(text);
    if (from !== null && this.#isOther(from)) this.#refuseBuild(from);
    else this.#refuseFrame('Not a frame.', from, faultOfWorkerFrame(text));
  }

  #isOther({ protocol, build }: Pick<Introduction, 'protocol' | 'build'>): boolean {
    return protocol !== PROTOCOL || build !== this.#parts.build;
  }

  #refuseBuild({ workerId, nodeId, host, protocol, build }: Introduction): void {
    const found =
      `the service has ${this.#parts.build} with protocol ${PROTOCOL}, ` +
      `the worker ${build} with ${protocol ?? 'an unknown one'}`;
    const about = { workerId, nodeId, host };
    this.#parts.logger.error(about, `a worker of another build was refused: ${found}`);
    // No close has room for more than 123 bytes.
    this.end(CLOSE.otherBuild, `Other build: ${found}.`.slice(0, 120));
  }

  /** At most once: the connection ends with it. */
  #refuseFrame(reason: string, from: Introduction | null = null, fault: string = reason): void {
    const { workerId, nodeId } = this.lane ?? from ?? {};
    this.#parts.logger.warn({ workerId, nodeId, fault }, 'a frame of a worker was refused');
    this.end(CLOSE.badFrame, reason);
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
      if (!drained) this.#parts.onLost?.();
    }
    if (code === CLOSE.silent) this.#socket.terminate();
    else if (code !== null) this.#socket.close(code, reason);
  }
}
