/** One connection of `/v1/stream`: its subscription, its rate limit and the limit on unread bytes. */
import type { WebSocket } from 'ws';
import { eventsSent, type JobEventName } from '../api/events.js';
import type { JobEvent } from '../store/job.js';
import type { Sender } from '../http/routes/jobs/read-submission.js';
import { EventGate } from './event-gate.js';

export const CLOSE = {
  goingAway: 1001,
  tooManyMessages: 1008,
  tryLater: 1013,
  unauthenticated: 4401,
} as const;

/** Unread bytes beyond which a connection is closed. */
const MAX_BUFFERED = 1024 * 1024;
/** Maximum number of events that wait for an answer in progress. */
const MAX_HELD = 10_000;
const MESSAGES_PER_SECOND = 50;
const BURST = 100;
/** The connection is destroyed when the client has not answered the close frame by then. */
const CLOSE_GRACE_MS = 2_000;

interface Subscription {
  events: ReadonlySet<JobEventName>;
  /** Null: every job. */
  jobIds: ReadonlySet<string> | null;
}

const DEFAULT_SUBSCRIPTION: Subscription = {
  events: new Set(eventsSent(true)),
  jobIds: null,
};

export class StreamClient {
  readonly sender: Sender;
  readonly gate: EventGate;
  readonly #socket: WebSocket;
  #subscription = DEFAULT_SUBSCRIPTION;
  #tokens = BURST;
  #tokensAt = performance.now();
  #answeredPing = true;

  constructor(socket: WebSocket, sender: Sender) {
    this.#socket = socket;
    this.sender = sender;
    this.gate = new EventGate((frame) => {
      this.#sendFrame(frame);
    });
    socket.on('pong', () => {
      this.#answeredPing = true;
    });
  }

  get keyId(): string | null {
    return this.sender.keyId;
  }

  isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  wants(event: Pick<JobEvent, 'event' | 'jobId' | 'keyId'>): boolean {
    const { events, jobIds } = this.#subscription;
    return (
      events.has(event.event) &&
      (jobIds === null || jobIds.has(event.jobId)) &&
      (this.keyId === null || this.keyId === event.keyId)
    );
  }

  /** Null selects the default subscription. */
  subscribe(subscription: Subscription | null): void {
    this.#subscription = subscription ?? DEFAULT_SUBSCRIPTION;
  }

  /** Sends a live event that the client wants. */
  offer(event: JobEvent, frame: Buffer): void {
    this.gate.pass(event, frame);
    if (this.gate.heldCount > MAX_HELD) this.close(CLOSE.tryLater, 'too far behind');
  }

  send(message: object): void {
    this.#sendFrame(Buffer.from(JSON.stringify(message)));
  }

  /** Counts a message of the client; false when it exceeds the rate. */
  mayReceive(): boolean {
    const now = performance.now();
    const earned = ((now - this.#tokensAt) / 1000) * MESSAGES_PER_SECOND;
    this.#tokens = Math.min(BURST, this.#tokens + earned) - 1;
    this.#tokensAt = now;
    return this.#tokens >= 0;
  }

  /** Sends a protocol ping, or destroys a connection that did not answer the previous one. */
  heartbeat(): void {
    if (!this.#answeredPing) {
      this.#socket.terminate();
      return;
    }
    this.#answeredPing = false;
    if (this.isOpen()) this.#socket.ping();
  }

  close(code: number, reason: string): void {
    if (!this.isOpen()) return;
    this.#socket.close(code, reason);
    setTimeout(() => {
      this.#socket.terminate();
    }, CLOSE_GRACE_MS).unref();
  }

  #sendFrame(frame: Buffer): void {
    if (!this.isOpen()) return;
    this.#socket.send(frame, { binary: false });
    if (this.#socket.bufferedAmount > MAX_BUFFERED) this.close(CLOSE.tryLater, 'reader too slow');
  }
}
