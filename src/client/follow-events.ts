/**
 * Follows the events of jobs. When a connection ends, the next one continues after the last event received. Node
 * programs and the live page use it, each with its own socket.
 */
import type { EventGap, JobEvent, Problem, SubscribeMessage } from './records.js';
import { pause } from './deadline.js';
import { ServiceError } from './service-error.js';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 3_000;

export type ServerMessage =
  | JobEvent
  | EventGap
  | { event: 'subscribed'; timestamp: number; seq: number }
  | { event: 'error'; timestamp: number; error: Problem };

export type Subscription = Omit<SubscribeMessage, 'action'>;

/**
 * Connects, subscribes and yields every message, including those before `subscribed`. Ends when the service closes the
 * connection. Rejects with `ServiceError` if the connection fails or breaks.
 */
export type OpenEventSocket = (
  subscription: Subscription,
  signal: AbortSignal | undefined,
) => AsyncIterable<ServerMessage>;

export interface EventOptions extends Pick<SubscribeMessage, 'job_ids' | 'events' | 'after_seq'> {
  /** Aborting it ends the iteration, which rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called with null when events arrive again, and with the reason when the connection is lost. */
  onConnection?: (lost: ServiceError | null) => void;
  /** Repeat the first connection too when it fails. */
  keepTrying?: boolean;
  /** Longest pause between two attempts to connect; the pauses grow up to it. */
  longestPauseMs?: number;
  /** Called before each attempt to connect. */
  onAttempt?: () => void;
  /** Called before each pause. */
  onPause?: (pauseMs: number) => void;
}

/** Rejects when the first connection fails, and when the service refuses a later one for good. */
export async function* followEvents(
  open: OpenEventSocket,
  options: EventOptions,
): AsyncGenerator<JobEvent | EventGap, void> {
  const { signal, onConnection, longestPauseMs = LONGEST_PAUSE_MS } = options;
  const position = new Position(options.after_seq ?? null);
  let attempts = 0;
  let retries = options.keepTrying === true;
  for (;;) {
    let lost: ServiceError | null = ServiceError.ofClient(
      'unreachable',
      'The service closed the event stream.',
    );
    try {
      options.onAttempt?.();
      for await (const message of open(position.resume(options), signal)) {
        if (message.event === 'error') throw new ServiceError(message.error);
        if (message.event === 'subscribed') {
          retries = true;
          attempts = 0;
          const lostAfter = position.subscribed(message.seq);
          if (lostAfter !== null) {
            lost = null;
            yield { event: 'gap', timestamp: message.timestamp, after_seq: lostAfter };
            break; // subscribe again from the start: the service's new events are not missed
          }
          onConnection?.(null);
        } else if (position.isNew(message)) {
          yield message;
        }
      }
      if (lost !== null && !retries) throw lost;
    } catch (error) {
      if (!(error instanceof ServiceError) || !retries || !error.isPassing) throw error;
      lost = error;
    }
    if (lost === null) continue;
    if (attempts === 0) onConnection?.(lost);
    const pauseMs = pauseBefore(attempts, longestPauseMs);
    options.onPause?.(pauseMs);
    await pause(pauseMs, signal); // when aborted, the next connection rejects with the reason
    attempts += 1;
  }
}

/** The last event that was handed on. */
class Position {
  #seq: number | null;
  #subscribed = false;

  constructor(afterSeq: number | null) {
    this.#seq = afterSeq;
  }

  /** The subscription of the next connection. */
  resume({ job_ids, events }: EventOptions): Pick<SubscribeMessage, 'job_ids' | 'events'> {
    this.#subscribed = false;
    return { job_ids, events, ...(this.#seq === null ? {} : { after_seq: this.#seq }) };
  }

  /**
   * `newest` is the service's last event number. If it is lower than the position, the service has lost its events and
   * counts from 1 again: returns the old position and restarts at 0. Otherwise returns null.
   */
  subscribed(newest: number): number | null {
    this.#subscribed = true;
    const reached = this.#seq ?? newest;
    this.#seq = reached > newest ? 0 : reached;
    return reached > newest ? reached : null;
  }

  /** False for messages before the subscription and for the live copy of a replayed event. */
  isNew(message: JobEvent | EventGap): boolean {
    if (!this.#subscribed) return false;
    // job_progress is not stored and repeats the number before it.
    if (message.event === 'gap' || message.event === 'job_progress') return true;
    if (message.seq <= (this.#seq ?? -1)) return false;
    this.#seq = message.seq;
    return true;
  }
}

/** Random within its upper half, so that clients of one service do not all reconnect at the same moment. */
function pauseBefore(attempt: number, longestMs: number): number {
  const most = Math.min(FIRST_PAUSE_MS * 2 ** attempt, longestMs);
  return most * (0.5 + Math.random() / 2);
}
