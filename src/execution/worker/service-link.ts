/** The worker's connection to the service: dials, says hello, reports, and dials again when it is gone. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Logger } from '../../logger-port.js';
import {
  BEAT_MS,
  CLOSE,
  MAX_FRAME,
  PROTOCOL,
  readServiceFrame,
  SILENCE_MS,
  WORKER_PATH,
  type Hello,
} from '../wire/frames.js';
import { stateOf, WorkerSession, type SessionParts } from './worker-session.js';

export interface ServiceLinkParts {
  /** `ws://HOST:PORT` or `wss://`. */
  serviceUrl: string;
  token(): string | null;
  build: string;
  workerId: string;
  nodeId: string;
  roots(): Promise<Hello['roots']>;
  detector: SessionParts['detector'];
  logger: Logger;
  /** First wait before dialling again; it doubles up to twenty times that. */
  backoffMs?: number;
}

const BACKOFF_MS = 500;
const BACKOFF_STEPS = 20;
/** Neither a refused key nor another build passes by itself: somebody has to act. */
const REFUSED_WAIT_MS = 10_000;
const HANDSHAKE_MS = 10_000;

export class ServiceLink {
  readonly #parts: ServiceLinkParts;
  readonly #instance = randomBytes(8).toString('hex');
  readonly #stop = new AbortController();
  #session: WorkerSession | null = null;
  #socket: WebSocket | null = null;

  constructor(parts: ServiceLinkParts) {
    this.#parts = parts;
  }

  /** Serves until `stop`. Never rejects. */
  async serve(): Promise<void> {
    const { logger, serviceUrl, backoffMs = BACKOFF_MS } = this.#parts;
    for (let attempt = 0; !this.#stop.signal.aborted;) {
      const hello = await this.#hello();
      const { served, reason, refused } = await this.#connection(hello);
      attempt = served ? 0 : attempt + 1;
      const step = Math.min(2 ** Math.max(0, attempt - 1), BACKOFF_STEPS);
      const waitMs = refused ? REFUSED_WAIT_MS : backoffMs * step * (0.5 + Math.random());
      logger.warn({ serviceUrl, reason, waitMs: Math.round(waitMs) }, 'no service; dialling again');
      await sleep(waitMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }

  /** Answers what is in hand, at most until the deadline, then closes. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stop.abort();
    await this.#session?.drain(deadlineMs);
    this.#socket?.close(1000, 'The worker is stopping.');
  }

  async #hello(): Promise<Hello> {
    const { build, workerId, nodeId, detector } = this.#parts;
    return {
      type: 'hello',
      protocol: PROTOCOL,
      build,
      workerId,
      nodeId,
      instance: this.#instance,
      host: hostname(),
      pid: process.pid,
      roots: await this.#parts.roots(),
      state: stateOf({ detector }),
    };
  }

  /** One connection from dialling to its end; `served`: the service took the hello. */
  #connection(hello: Hello): Promise<{ served: boolean; reason: string; refused: boolean }> {
    const { serviceUrl, detector, nodeId, logger } = this.#parts;
    const token = this.#parts.token();
    return new Promise((resolve) => {
      const socket = new WebSocket(new URL(WORKER_PATH, serviceUrl), {
        headers: token === null ? {} : { authorization: `Bearer ${token}` },
        handshakeTimeout: HANDSHAKE_MS,
        maxPayload: MAX_FRAME,
        perMessageDeflate: false,
      });
      this.#socket = socket;
      const send = (data: string | Buffer) => {
        if (socket.readyState === WebSocket.OPEN) socket.send(data);
      };
      const session = new WorkerSession({ detector, nodeId, send });
      let served = false;
      let fault = '';
      let status = 0;
      let heardAt = performance.now();
      const beat = setInterval(() => {
        if (performance.now() - heardAt > SILENCE_MS) socket.terminate();
        else if (served) session.sendState();
      }, BEAT_MS);
      socket.on('open', () => {
        send(JSON.stringify(hello));
      });
      socket.on('ping', () => {
        heardAt = performance.now();
      });
      socket.on('message', (data: Buffer) => {
        heardAt = performance.now();
        const frame = readServiceFrame(data.toString());
        if (frame === null) socket.close(CLOSE.badFrame, 'Not a frame.');
        else if (frame.type === 'welcome') {
          served = true;
          this.#session = session;
          logger.info({ serviceUrl }, 'serving');
        } else session.receive(frame);
      });
      socket.on('unexpected-response', (_request, response) => {
        status = response.statusCode ?? 0;
        fault = `the service answered ${status}`;
        socket.terminate();
      });
      socket.on('error', (error) => {
        if (fault === '') fault = error.message;
      });
      socket.on('close', (code, reason) => {
        clearInterval(beat);
        session.end();
        if (this.#session === session) this.#session = null;
        const text = reason.toString() || fault || `closed with ${code}`;
        const refused = code === CLOSE.otherBuild || status === 401 || status === 403;
        resolve({ served, reason: text, refused });
      });
    });
  }
}
