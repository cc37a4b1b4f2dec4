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

/** Workers that are refused dial again every 10 s; the log has one line per minute. */
const LOGGED_EVERY_MS = 60_000;

export class WorkerGate {
  readonly #parts: WorkerGateParts;
  readonly #connections = new Set<WorkerConnection>();
  readonly #timer: NodeJS.Timeout;
  #refusal: { text: string; at: number } | null = null;
  #loggedAt = -Infinity;
  #closed = false;

  constructor(parts: WorkerGateParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => {
      for (const connection of [...this.#connections]) connection.beat();
    }, parts.beatMs ?? BEAT_MS);
    this.#timer.unref();
  }

  /** Why a worker was refused in the last minute, a sentence. */
  get refusal(): string | null {
    const { text, at } = this.#refusal ?? { text: null, at: 0 };
    return performance.now() - at < LOGGED_EVERY_MS ? text : null;
  }

  /** `authorization` header of the upgrade, and where it came from. */
  admits(authorization: string | undefined, address = 'an unknown address'): boolean {
    if (this.#parts.token === null) return true;
    const given = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
    const isKnown = timingSafeEqual(digest(given), digest(this.#parts.token));
    if (!isKnown)
      this.#noteRefusal(
        given === '' ? 'no worker token' : 'another worker token than the service',
        address,
      );
    return isKnown;
  }

  #noteRefusal(what: string, address: string): void {
    const now = performance.now();
    const text = `A worker at ${address} was refused, because it has ${what}: the file LATTICE_WORKER_TOKEN_FILE must be the same on all machines.`;
    this.#refusal = { text, at: now };
    if (now - this.#loggedAt < LOGGED_EVERY_MS) return;
    this.#loggedAt = now;
    this.#parts.logger.warn({ address }, text);
  }

  /** The caller passes on what the socket receives, and its close. */
  connect(socket: WorkerSocket): WorkerConnection {
    const connection = new WorkerConnection(socket, this.#parts, {
      hello: (worker) => {
        this.#replace(worker, connection);
      },
      refused: (why) => {
        this.#refusal = { text: why, at: performance.now() };
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
