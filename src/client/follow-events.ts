/** Events of jobs over as many connections as it takes: each goes on where the last one ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openEventSocket, type StreamTarget } from './event-socket.js';
import type { EventGap, JobEvent, SubscribeMessage } from './records.js';
import { ServiceError } from './service-error.js';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 3_000;

export interface EventOptions extends Pick<SubscribeMessage, 'job_ids' | 'events' | 'after_seq'> {
  /** Ends the iteration: it rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called with null once events come, and with the reason when they stop coming until further notice. */
  onConnection?: (lost: ServiceError | null) => void;
}

/** Rejects when the first connection does not come about, and when a later one is refused for good. */
export async function* followEvents(
  target: StreamTarget,
  options: EventOptions,
): AsyncGenerator<JobEvent | EventGap, void> {
  const { signal, onConnection } = options;
  const position = new Position(options.after_seq ?? null);
  let attempts = 0;
  let everConnected = false;
  for (;;) {
    let lost: ServiceError | null = ServiceError.ofClient(
      'unreachable',
      'The service closed the event stream.',
    );
    try {
      for await (const message of openEventSocket(target, position.resume(options), signal)) {
        if (message.event === 'error') throw new ServiceError(message.error);
        if (message.event === 'subscribed') {
          everConnected = true;
          attempts = 0;
          const lostAfter = position.subscribed(message.seq);
          if (lostAfter !== null) {
            lost = null;
            yield { event: 'gap', timestamp: message.timestamp, after_seq: lostAfter };
            break; // asked again, from the start: what the service told since is not missed
          }
          onConnection?.(null);
        } else if (position.isNew(message)) {
          yield message;
        }
      }
    } catch (error) {
      if (!(error instanceof ServiceError) || !everConnected || !error.isPassing) throw error;
      lost = error;
    }
    if (lost === null) continue;
    if (attempts === 0) onConnection?.(lost);
    // Its own error is not the signal's reason, which the next connection rejects with.
    await sleep(pauseMs(attempts), undefined, signal && { signal }).catch(() => undefined);
    attempts += 1;
  }
}

/** How far the events have been handed on. */
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
   * `newest` is the service's. Where it is behind the place reached, the service has lost its events and counts anew:
   * gives that place, and goes back to the start.
   */
  subscribed(newest: number): number | null {
    this.#subscribed = true;
    const reached = this.#seq ?? newest;
    this.#seq = reached > newest ? 0 : reached;
    return reached > newest ? reached : null;
  }

  /** What comes before the subscription is of other jobs, or comes again; the live copy of a replayed event too. */
  isNew(message: JobEvent | EventGap): boolean {
    if (!this.#subscribed) return false;
    // job_progress is not stored and repeats the number before it.
    if (message.event === 'gap' || message.event === 'job_progress') return true;
    if (message.seq <= (this.#seq ?? -1)) return false;
    this.#seq = message.seq;
    return true;
  }
}

/** Those whose service went away together do not come back together. */
function pauseMs(attempts: number): number {
  const most = Math.min(FIRST_PAUSE_MS * 2 ** attempts, LONGEST_PAUSE_MS);
  return most * (0.5 + Math.random() / 2);
}
