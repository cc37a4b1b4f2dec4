/** Whether the service is reachable. The last news decides; an answer that is only late does not count against it. */
import type { FeedState } from './job-feed.js';

/** The service counts as unreachable after this long without an answer or event: a busy service may answer late. */
const SILENT_S = 20;

/**
 * `connecting`: the event stream is not open, but the service may answer. `away`: nothing accepts a connection, or no
 * answer or event came for 20 s.
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
