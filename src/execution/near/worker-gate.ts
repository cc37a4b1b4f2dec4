/** Where workers connect: one timer watches all connections. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { BEAT_MS, CLOSE } from '../wire/frames.js';
import type { RemoteWorker } from './remote-worker.js';
import { WorkerConnection, type ConnectionParts, type WorkerSocket } from './worker-connection.js';

export interface WorkerGateParts extends ConnectionParts {
  /** What workers must present; null for nothing. */
  token: string | null;
  beatMs?: number;
}

export class WorkerGate {
  readonly #parts: WorkerGateParts;
  readonly #connections = new Set<WorkerConnection>();
  readonly #timer: NodeJS.Timeout;
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
      hello: (worker) => {
        this.#replace(worker, connection);
      },
      gone: () => this.#connections.delete(connection),
    });
    if (this.#closed) socket.close(CLOSE.stopping, 'The service is stopping.');
    else this.#connections.add(connection);
    return connection;
  }

  /** One process has one connection: an older one of it is half open. */
  #replace(worker: RemoteWorker, own: WorkerConnection): void {
    for (const other of [...this.#connections]) {
      if (other !== own && other.worker?.instance === worker.instance) {
        other.end(CLOSE.replaced, 'The worker opened another socket.');
      }
    }
  }

  /** The executor closes the workers. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const connection of [...this.#connections])
      connection.end(CLOSE.stopping, 'The service is stopping.');
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest();
