/** Events of `/v1/stream`, over as many connections as it takes. */
import type { JobEvent } from './wire.js';

/** What is needed of a WebSocket. */
export interface FeedSocket {
  onopen: (() => void) | null;
  onmessage: ((message: { data: unknown }) => void) | null;
  onclose: ((closed: { code: number }) => void) | null;
  onerror: (() => void) | null;
  send(text: string): void;
  close(): void;
}

export type FeedState =
  | { kind: 'connecting' }
  | { kind: 'live' }
  /** Tried again in so many seconds. */
  | { kind: 'waiting'; seconds: number }
  | { kind: 'stopped'; reason: string };

export interface FeedListener {
  onState(state: FeedState): void;
  onEvent(event: JobEvent): void;
  /** Events were missed that cannot be had any more, or none was seen yet: only a list tells how things are. */
  onUnknownPast(): void;
  onUnauthorized(): void;
}

const UNAUTHENTICATED = 4401;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
const PING_MS = 15_000;
/** More than this many missed events cost more than a list. */
const MOST_REPLAYED = 1_000;

interface Message extends Omit<JobEvent, 'event'> {
  event: string;
  id?: string;
}

export class JobFeed {
  readonly #open: () => FeedSocket;
  readonly #listener: FeedListener;
  #socket: FeedSocket | null = null;
  #retry: ReturnType<typeof setTimeout> | null = null;
  #heartbeat: ReturnType<typeof setInterval> | null = null;
  #failures = 0;
  #lastSeq: number | null = null;
  #heard = true;
  #subscribed = false;

  /** `open` may throw: what it throws is the reason for having no events. */
  constructor(open: () => FeedSocket, listener: FeedListener) {
    this.#open = open;
    this.#listener = listener;
  }

  /** Connects, now, and stays connected until `stop`. */
  start(): void {
    this.#drop();
    this.#listener.onState({ kind: 'connecting' });
    try {
      this.#connect(this.#open());
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#listener.onState({ kind: 'stopped', reason });
    }
  }

  stop(reason: string): void {
    this.#drop();
    this.#lastSeq = null;
    this.#listener.onState({ kind: 'stopped', reason });
  }

  #connect(socket: FeedSocket): void {
    this.#socket = socket;
    this.#subscribed = false;
    this.#heard = true;
    socket.onopen = () => {
      socket.send('{"action":"ping","id":"newest"}');
    };
    socket.onmessage = ({ data }) => {
      this.#heard = true;
      this.#receive(socket, JSON.parse(String(data)) as Message);
    };
    // A close follows every error.
    socket.onerror = () => undefined;
    socket.onclose = ({ code }) => {
      this.#closed(code);
    };
    this.#heartbeat = setInterval(() => {
      this.#checkHeartbeat(socket);
    }, PING_MS);
  }

  #receive(socket: FeedSocket, message: Message): void {
    const { event, seq } = message;
    if (event === 'pong' && message.id === 'newest') {
      socket.send(JSON.stringify(this.#subscription(seq ?? 0)));
    } else if (event === 'subscribed') {
      this.#begin(seq ?? 0);
    } else if (event === 'gap') {
      this.#listener.onUnknownPast();
    } else if (event.startsWith('job_') && this.#subscribed) {
      // What came before is replayed, or in the list.
      if (seq !== undefined) this.#lastSeq = Math.max(this.#lastSeq ?? 0, seq);
      this.#listener.onEvent(message as JobEvent);
    }
  }

  /** Asks for what was missed, where that is little; a store that began anew has no past of ours. */
  #subscription(newest: number): object {
    const missed = this.#lastSeq === null ? Infinity : newest - this.#lastSeq;
    if (missed < 0 || missed > MOST_REPLAYED) this.#lastSeq = null;
    const past = this.#lastSeq === null ? {} : { after_seq: this.#lastSeq };
    return { action: 'subscribe', ...past };
  }

  #begin(newest: number): void {
    this.#subscribed = true;
    this.#failures = 0;
    this.#listener.onState({ kind: 'live' });
    if (this.#lastSeq !== null) return;
    this.#lastSeq = newest;
    this.#listener.onUnknownPast();
  }

  /** A connection that died without a word is noticed by its silence. */
  #checkHeartbeat(socket: FeedSocket): void {
    if (!this.#heard || !this.#subscribed) {
      this.#closed(0);
      return;
    }
    this.#heard = false;
    socket.send('{"action":"ping"}');
  }

  #closed(code: number): void {
    this.#drop();
    if (code === UNAUTHENTICATED) {
      this.#listener.onState({ kind: 'stopped', reason: 'The API key is missing or unknown.' });
      this.#listener.onUnauthorized();
      return;
    }
    const longest = Math.min(FIRST_WAIT_MS * 2 ** this.#failures, LONGEST_WAIT_MS);
    this.#failures += 1;
    // Half of it by chance, so that the pages of many do not come back at once.
    const wait = longest * (0.5 + Math.random() / 2);
    this.#listener.onState({ kind: 'waiting', seconds: wait / 1000 });
    this.#retry = setTimeout(() => {
      this.start();
    }, wait);
  }

  #drop(): void {
    if (this.#retry !== null) clearTimeout(this.#retry);
    if (this.#heartbeat !== null) clearInterval(this.#heartbeat);
    this.#retry = null;
    this.#heartbeat = null;
    const socket = this.#socket;
    this.#socket = null;
    if (socket === null) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }
}
