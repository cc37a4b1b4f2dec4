/** The gate that workers connect to. One timer watches all connections. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { BEAT_MS, CLOSE, TOKEN_REMEDY, wordSchema } from '../wire/frames.js';
import { AbsentWorkers, type AbsentWorker } from './absent-workers.js';
import type { RemoteWorker } from './remote-worker.js';
import { WorkerConnection, type ConnectionParts, type WorkerSocket } from './worker-connection.js';

export interface WorkerGateParts extends ConnectionParts {
  /** The token that workers must present; null for none. */
  token: string | null;
  beatMs?: number;
}

/** Claims of a worker in its upgrade request; none of them is proved. */
export interface Caller {
  /** `authorization` header. */
  authorization: string | undefined;
  address?: string | undefined;
  workerId?: string | undefined;
  nodeId?: string | undefined;
}

/** Workers that are refused dial again every 10 s; the log has one line per minute. */
const LOGGED_EVERY_MS = 60_000;

export class WorkerGate {
  readonly #parts: WorkerGateParts;
  readonly #connections = new Set<WorkerConnection>();
  readonly #timer: NodeJS.Timeout;
  readonly #absent = new AbsentWorkers();
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

  /** Workers that were lost or refused and have not joined since. */
  absent(): AbsentWorker[] {
    return this.#absent.list();
  }

  admits(caller: Caller): boolean {
    if (this.#parts.token === null) return true;
    const given = /^Bearer (\S+)$/i.exec(caller.authorization ?? '')?.[1] ?? '';
    const isKnown = timingSafeEqual(digest(given), digest(this.#parts.token));
    if (!isKnown)
      this.#noteRefusal(
        given === '' ? 'no worker token' : 'another worker token than the service',
        caller,
      );
    return isKnown;
  }

  #noteRefusal(what: string, caller: Caller): void {
    const now = performance.now();
    const { address = 'an unknown address' } = caller;
    const workerId = readWord(caller.workerId);
    const nodeId = readWord(caller.nodeId) ?? 'unknown';
    const who = workerId === null ? 'A worker' : `${workerId} on node ${nodeId}`;
    const text = `${who} at ${address} was refused, because it has ${what}: ${TOKEN_REMEDY}.`;
    this.#refusal = { text, at: now };
    if (workerId !== null) this.#noteAbsent({ workerId, nodeId, state: 'refused', reason: text });
    if (now - this.#loggedAt < LOGGED_EVERY_MS) return;
    this.#loggedAt = now;
    this.#parts.logger.warn({ address }, text);
  }

  #noteAbsent(worker: AbsentWorker): void {
    const isConnected = [...this.#connections].some(
      (connection) => connection.worker?.workerId === worker.workerId,
    );
    if (!isConnected) this.#absent.note(worker);
  }

  /** The caller passes on what the socket receives, and its close. */
  connect(socket: WorkerSocket): WorkerConnection {
    const connection = new WorkerConnection(socket, this.#parts, {
      hello: (worker) => {
        this.#replace(worker, connection);
        this.#absent.joined(worker.workerId);
      },
      refused: ({ workerId, nodeId }, reason) => {
        this.#refusal = { text: reason, at: performance.now() };
        this.#noteAbsent({ workerId, nodeId, state: 'refused', reason });
      },
      lost: ({ workerId, nodeId, host }, why) => {
        const at = new Date().toISOString();
        const reason = `Lost at ${at}: ${why} Is node ${nodeId} (host ${host}) up, and does it reach the service?`;
        this.#noteAbsent({ workerId, nodeId, state: 'lost', reason });
        this.#parts.onLost?.(workerId, why);
      },
      gone: () => this.#connections.delete(connection),
    });
    if (this.#closed) socket.close(CLOSE.stopping, 'The service is stopping.');
    else this.#connections.add(connection);
    return connection;
  }

  /** Closes an older connection of the same process, which is half open: a process has one. */
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

/** Null where it is not fit for the log. */
function readWord(text: string | undefined): string | null {
  return wordSchema.safeParse(text).data ?? null;
}

const digest = (text: string) => createHash('sha256').update(text).digest();
