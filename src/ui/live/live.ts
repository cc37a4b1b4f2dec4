/** The events of all jobs, for every part of the page that follows them, and whether the service is there. */
import { effect, signal, useSignal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { JobEvent } from '../../client/records.js';
import { ServiceError } from '../../client/service-error.js';
import { askForKey, isUnreachable, keyAsked, lastAnswer, service } from '../session/session.js';
import { JobFeed, type FeedState } from './job-feed.js';
import { presenceOf, type Presence } from './presence.js';

export interface JobFollower {
  onEvent(event: JobEvent): void;
  /** Events are missing: only a request shows the present state. */
  onUnknownPast(): void;
}

export const connection = signal<FeedState>({ kind: 'connecting' });
/** When the connection was last live, in milliseconds; null before the first. */
const lastLive = signal<number | null>(null);

/** How often the page has been connected. */
const connections = signal(0);
const followers = new Set<JobFollower>();
/** Interval of the calls that ask whether the service answers. */
const ASK_EVERY_MS = 1_000;
const ANSWER_MS = 5_000;

/** `now`: in milliseconds. */
export function presenceAt(now: number): Presence {
  const last = Math.max(lastLive.value ?? 0, lastAnswer.value ?? 0);
  return presenceOf(connection.value, {
    silentFor: last === 0 ? null : Math.max(0, now - last) / 1000,
    isUnreachable: isUnreachable.value,
  });
}

/** Calls the follower from now on. Call the result to stop. */
export function followJobs(follower: JobFollower): () => void {
  followers.add(follower);
  return () => followers.delete(follower);
}

const feed = new JobFeed((options) => service.events(options), {
  onState: (state) => {
    if (connection.peek().kind === 'live') lastLive.value = Date.now();
    connection.value = state;
    // Why a socket failed a browser does not tell; a call does.
    if (state.kind === 'waiting') {
      void service.ready({ deadlineMs: ANSWER_MS }).catch(() => undefined);
    }
    if (state.kind !== 'live') return;
    connections.value += 1;
    // No event is missed, but requests that were made meanwhile have failed.
    if (connections.peek() > 1) for (const follower of followers) follower.onUnknownPast();
  },
  onEvent: (event) => {
    for (const follower of followers) follower.onEvent(event);
  },
  onUnknownPast: () => {
    for (const follower of followers) follower.onUnknownPast();
  },
  onUnauthorized: askForKey,
});

/** Connects with the key of the moment, and stays connected. */
export function startFeed(): void {
  effect(() => {
    if (keyAsked.value !== null) feed.stop('an API key is needed.');
    else feed.start();
  });
  // A call did not reach the service: a connection that counts as live is tried anew. One that is late says nothing.
  effect(() => {
    if (isUnreachable.value && connection.peek().kind === 'live') feed.start();
  });
}

/** The page was connected and is not. */
export const isCutOff = (): boolean => connections.peek() > 0 && connection.peek().kind !== 'live';

/** Resolves when the service answers: at once, or later, after a call of `onAway`. Tells whether it was away. */
export async function untilAnswer(onAway: () => void): Promise<boolean> {
  for (let wasAway = false; ;) {
    try {
      await service.ready({ deadlineMs: ANSWER_MS });
      return wasAway;
    } catch (error) {
      if (!isAway(error)) return wasAway;
      if (!wasAway) onAway();
      wasAway = true;
    }
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
}

/** Grows when the page is connected again while a fault is shown: what failed is worth another try. */
export function useRetries(fault: Signal<unknown>): number {
  const retries = useSignal(0);
  useEffect(() => {
    if (fault.peek() !== null) retries.value += 1;
  }, [connections.value, fault, retries]);
  return retries.value;
}

export function isAway(error: unknown): boolean {
  return error instanceof ServiceError && ['unreachable', 'timeout'].includes(error.code);
}
