/** The events of all jobs for the page, over as many connections as needed. */
import { ServiceError, type JobEvent, type LatticeClient } from '../../client/lattice-client.js';

/** People wait in front of the page for the service to come back. */
const LONGEST_PAUSE_MS = 5_000;

export type FeedState =
  | { kind: 'connecting' }
  | { kind: 'live' }
  /** The next attempt follows in `seconds`. */
  | { kind: 'waiting'; seconds: number }
  | { kind: 'stopped'; reason: string };

export interface FeedListener {
  onState(state: FeedState): void;
  onEvent(event: JobEvent): void;
  /** Earlier events are missing: only a list shows the present state. Also called once after `start`. */
  onUnknownPast(): void;
  onUnauthorized(): void;
}

export class JobFeed {
  readonly #events: LatticeClient['events'];
  readonly #listener: FeedListener;
  #stop = new AbortController();

  /** If `events` ends, the feed stops with its error as the reason. */
  constructor(events: LatticeClient['events'], listener: FeedListener) {
    this.#events = events;
    this.#listener = listener;
  }

  /** Connects and stays connected until `stop`. */
  start(): void {
    this.#stop.abort();
    this.#stop = new AbortController();
    void this.#follow(this.#stop.signal);
  }

  stop(reason: string): void {
    this.#stop.abort();
    this.#listener.onState({ kind: 'stopped', reason });
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const listener = this.#listener;
    let connected = false;
    const events = this.#events({
      signal,
      keepTrying: true,
      longestPauseMs: LONGEST_PAUSE_MS,
      onAttempt: () => {
        if (!signal.aborted) listener.onState({ kind: 'connecting' });
      },
      onConnection: (lost) => {
        if (lost !== null) return;
        listener.onState({ kind: 'live' });
        if (!connected) listener.onUnknownPast();
        connected = true;
      },
      onPause: (pauseMs) => listener.onState({ kind: 'waiting', seconds: pauseMs / 1000 }),
    });
    try {
      for await (const event of events) {
        if (event.event === 'gap') listener.onUnknownPast();
        else listener.onEvent(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      const reason = error instanceof Error ? error.message : String(error);
      listener.onState({ kind: 'stopped', reason });
      if (error instanceof ServiceError && error.code === 'unauthorized') listener.onUnauthorized();
    }
  }
}
