/** The events of all jobs, for every part of the page that follows them. */
import { effect, signal } from '@preact/signals';
import type { JobEvent } from '../../client/records.js';
import { askForKey, keyAsked, service } from '../session/session.js';
import { JobFeed, type FeedState } from './job-feed.js';

export interface JobFollower {
  onEvent(event: JobEvent): void;
  /** Events are missing: only a request shows the present state. */
  onUnknownPast(): void;
}

export const connection = signal<FeedState>({ kind: 'connecting' });
/** When the connection was last live, in milliseconds; null before the first. */
export const lastLive = signal<number | null>(null);

const followers = new Set<JobFollower>();

/** From now on; call the result to stop. */
export function followJobs(follower: JobFollower): () => void {
  followers.add(follower);
  return () => followers.delete(follower);
}

const feed = new JobFeed((options) => service.events(options), {
  onState: (state) => {
    if (connection.peek().kind === 'live') lastLive.value = Date.now();
    connection.value = state;
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
}
