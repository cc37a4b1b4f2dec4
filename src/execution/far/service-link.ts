/** The worker's connection to the service: dials, sends hello and reports, and dials again when it is lost. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { BackOff } from '../../base/back-off.js';
import type { Logger } from '../../base/logger-port.js';
import {
  BEAT_MS,
  CLOSE,
  MAX_FRAME,
  NODE_HEADER,
  readServiceFrame,
  SILENCE_MS,
  TOKEN_REMEDY,
  WORKER_HEADER,
  WORKER_PATH,
  type SentByWorker,
} from '../wire/frames.js';
import { stateToSend, WorkerSession, type SessionParts } from './worker-session.js';

type SentHello = Extract<SentByWorker, { type: 'hello' }>;

export interface ServiceLinkParts {
  /** `ws://HOST:PORT` or `wss://`. */
  serviceUrl: string;
  token(): string | null;
  build: string;
  workerId: string;
  nodeId: string;
  roots(): Promise<SentHello['roots']>;
  detector: SessionParts['detector'];
  modelDigests: SessionParts['modelDigests'];
  /** Limit of an image that a client sent. */
  maxImageBytes: number;
  logger: Logger;
  /**
   * Called with one line for people when an attempt fails and when the next one connects; never with the same line
   * twice in a row.
   */
  report?(line: string): void;
  /** Shortest wait before dialling again. */
  backoffMs?: number;
  /** Wait after a refusal. */
  refusedWaitMs?: number;
}

const BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 15_000;
/** An operator has to act before another attempt can succeed. */
const REFUSED_WAIT_MS = 10_000;
const HANDSHAKE_MS = 10_000;

/** `lattice_ray status` looks for this. */
const NOT_CONNECTED = 'not connected';

interface ConnectionEnd {
  /** The service took the hello. */
  served: boolean;
  reason: string;
  /** Code of the socket's close; 0 where there was no connection. */
  code: number;
  /** By its token or its build. */
  refused: boolean;
}

const NOT_DIALLED: ConnectionEnd = { served: false, reason: 'stopped', code: 0, refused: false };

export class ServiceLink {
  readonly #parts: ServiceLinkParts;
  readonly #instance = randomBytes(8).toString('hex');
  readonly #stop = new AbortController();
  #session: WorkerSession | null = null;
  #reported: string | null = null;
  #socket: WebSocket | null = null;

  constructor(parts: ServiceLinkParts) {
    this.#parts = parts;
  }

  /** Serves until `stop`. Never rejects. */
  async serve(): Promise<void> {
    const { logger, serviceUrl, backoffMs = BACKOFF_MS } = this.#parts;
    const { refusedWaitMs = REFUSED_WAIT_MS } = this.#parts;
    const { signal } = this.#stop;
    const backOff = new BackOff(backoffMs, LONGEST_BACKOFF_MS);
    while (!signal.aborted) {
      const { served, reason, code, refused } = await this.#attempt();
      if (this.#isStopped()) break;
      if (served) backOff.reset();
      const waitMs = Math.round(refused ? refusedWaitMs : backOff.next());
      const level = code === CLOSE.stopping ? 'info' : 'warn';
      logger[level]({ serviceUrl, reason, waitMs }, 'no service; dialling again');
      this.#report(`${NOT_CONNECTED} to ${serviceUrl}: ${reason}`);
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Answers what is in hand, at most until the deadline, then closes. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stop.abort();
    await this.#session?.drain(deadlineMs);
    this.#socket?.close(1000, 'The worker is stopping.');
  }

  #report(line: string): void {
    if (line !== this.#reported) this.#parts.report?.(line);
    this.#reported = line;
  }

  #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  /** One connection, or why there was none. */
  async #attempt(): Promise<ConnectionEnd> {
    try {
      const hello = await this.#hello();
      const token = this.#parts.token();
      if (this.#isStopped()) return NOT_DIALLED;
      return await this.#connection(hello, token);
    } catch (error) {
      return { ...NOT_DIALLED, reason: String(error) };
    }
  }

  async #hello(): Promise<SentHello> {
    const { build, workerId, nodeId } = this.#parts;
    return {
      type: 'hello',
      build,
      workerId,
      nodeId,
      instance: this.#instance,
      host: hostname(),
      pid: process.pid,
      roots: await this.#parts.roots(),
      state: stateToSend(this.#parts),
    };
  }

  /** One connection from dialling to its end. */
  #connection(hello: SentHello, token: string | null): Promise<ConnectionEnd> {
    const { serviceUrl, maxImageBytes, logger } = this.#parts;
    return new Promise((resolve) => {
      const socket = new WebSocket(new URL(WORKER_PATH, serviceUrl), {
        headers: {
          [WORKER_HEADER]: encodeURIComponent(hello.workerId),
          [NODE_HEADER]: encodeURIComponent(hello.nodeId),
          ...(token !== null && { authorization: `Bearer ${token}` }),
        },
        handshakeTimeout: HANDSHAKE_MS,
        // `isFrame` keeps texts to their own limit.
        maxPayload: Math.max(MAX_FRAME, maxImageBytes),
        perMessageDeflate: false,
      });
      this.#socket = socket;
      const send = (frame: SentByWorker) => {
        if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
      };
      const session = new WorkerSession({ ...this.#parts, send });
      let served = false;
      let fault = '';
      let status = 0;
      let heardAt = performance.now();
      const beat = setInterval(() => {
        if (performance.now() - heardAt > SILENCE_MS) socket.terminate();
        else if (served) session.sendState();
      }, BEAT_MS);
      socket.on('open', () => {
        send(hello);
      });
      socket.on('ping', () => {
        heardAt = performance.now();
      });
      const isFrame = (data: Buffer, isBinary: boolean): boolean => {
        if (isBinary) return session.receiveImage(data);
        const frame = data.length > MAX_FRAME ? null : readServiceFrame(data.toString()).frame;
        if (frame?.type === 'welcome') {
          served = true;
          this.#session = session;
          logger.info({ serviceUrl }, 'serving');
          if (this.#reported !== null) this.#report(`connected to ${serviceUrl}`);
        }
        return frame !== null && session.receive(frame);
      };
      socket.on('message', (data: Buffer, isBinary) => {
        heardAt = performance.now();
        if (!isFrame(data, isBinary)) socket.close(CLOSE.badFrame, 'Not a frame.');
      });
      socket.on('unexpected-response', (_request, response) => {
        status = response.statusCode ?? 0;
        fault = `the service answered ${status}${status === 401 ? `, ${TOKEN_REMEDY}` : ''}`;
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
        resolve({ served, reason: text, code, refused });
      });
    });
  }
}
