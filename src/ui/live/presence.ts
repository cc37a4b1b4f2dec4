/** Whether the service is there: by what came last, and not by what is late. */
import type { FeedState } from './job-feed.js';

/** A busy service may answer late, and the connection for events may break: it is away only without any news. */
const SILENT_S = 20;

/**
 * `connecting`: its events do not come yet, or not any more, but it may well answer. `away`: nothing takes a
 * connection, or no news came for 20 s.
 */
export type Presence =
  | { kind: 'live' | 'connecting' }
  | { kind: 'away'; silentFor: number | null }
  | { kind: 'stopped'; reason: string };

interface News {
  /** Seconds since the last answer or event; null before the first. */
  silentFor: number | null;
  /** The last call found nothing that it could connect to. */
  isUnreachable: boolean;
}

export function presenceOf(feed: FeedState, { silentFor, isUnreachable }: News): Presence {
  if (feed.kind === 'stopped') return feed;
  if (feed.kind === 'live') return { kind: 'live' };
  const isSilent = silentFor !== null && silentFor > SILENT_S;
  return isUnreachable || isSilent ? { kind: 'away', silentFor } : { kind: 'connecting' };
}
