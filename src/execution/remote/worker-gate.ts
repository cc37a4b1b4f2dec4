/** Where workers come in: each socket of theirs is a connection, watched by one timer. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { BEAT_MS, CLOSE } from '../wire/frames.js';
import type { RemoteLane } from './remote-lane.js';
import { WorkerConnection, type ConnectionParts, type WorkerSocket } from './worker-connection.js';

export interface WorkerGateParts extends ConnectionParts {
  /** What workers present; null where none is asked for. */
  token: string | null;
  beatMs?: number;
}

export class WorkerGate {
  readonly #parts: WorkerGateParts;
  readonly #connections = new Set<WorkerConnection>();
  readonly #timer: NodeJS.Timeout;
  #lease = Date.now() * 1_000;
  #closed = false;

  constructor(parts: WorkerGateParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => {
      for (const connection of [...this.#connections]) connection.beat();
    }, parts.beatMs ?? BEAT_MS);
    this.#timer.unref();
  }

  /** `authorization` header of the upgrade. */
  admits(authorization: string | undefined): boolean {
    if (this.#parts.token === null) return true;
    const given = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
    return timingSafeEqual(digest(given), digest(this.#parts.token));
  }

  /** The caller passes on what the socket receives, and its close. */
  connect(socket: WorkerSocket): WorkerConnection {
    const connection = new WorkerConnection(socket, this.#parts, {
      nextLease: () => ++this.#lease,
      hello: (lane) => {
        this.#replace(lane, connection);
      },
      gone: () => this.#connections.delete(connection),
    });
    if (this.#closed) socket.close(CLOSE.stopping, 'The service is stopping.');
    else this.#connections.add(connection);
    return connection;
  }

  /** One process has one lane: an older socket of it is half open. */
  #replace(lane: RemoteLane, own: WorkerConnection): void {
    for (const other of [...this.#connections]) {
      if (other !== own && other.lane?.instance === lane.instance) {
        other.end(CLOSE.replaced, 'The worker opened another socket.');
      }
    }
  }

  /** Lanes are closed by whoever they joined. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const connection of [...this.#connections])
      connection.end(CLOSE.stopping, 'The service is stopping.');
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest();
