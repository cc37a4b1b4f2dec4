/** Decides what follows from one attempt. A pure function: the callers pass time and random number. */
import { parseRetryAfter } from '../base/retry-after.js';
import type { Verdict } from '../store/webhook-delivery.js';

/** Seconds before each attempt, counted from the attempt before; the first attempt never waits. */
export const DEFAULT_SCHEDULE: readonly number[] = [0, 5, 300, 1_800, 7_200, 18_000, 36_000];

/** Waits vary by this share, so that a receiver that was down does not get all retries at once. */
const JITTER = 0.2;

export type AttemptOutcome =
  | { kind: 'answered'; status: number; retryAfter: string | null }
  /** No status line arrived. `permanent`: a later attempt cannot end differently. */
  | { kind: 'unreachable'; error: string; permanent: boolean };

/** `attempt` counts from 0; `now` in Unix seconds; `chance` lies in [0, 1). */
export function judge(
  outcome: AttemptOutcome,
  attempt: number,
  schedule: readonly number[],
  now: number,
  chance: number,
): Verdict {
  if (outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300) {
    return { action: 'succeeded', status: outcome.status };
  }
  const status = outcome.kind === 'answered' ? outcome.status : null;
  const error = outcome.kind === 'answered' ? describeStatus(outcome.status) : outcome.error;
  const final = status === 410 || (outcome.kind === 'unreachable' && outcome.permanent);
  const wait = schedule[attempt + 1];
  if (final) return { action: 'gave_up', status, error };
  if (wait === undefined) {
    return { action: 'gave_up', status, error: `${error}; attempt ${attempt + 1} was the last` };
  }
  const asked = outcome.kind === 'answered' ? parseRetryAfter(outcome.retryAfter, now) : 0;
  const spread = wait * (1 - JITTER + 2 * JITTER * chance);
  return { action: 'retry', at: now + Math.max(spread, asked), status, error };
}

function describeStatus(status: number): string {
  if (status === 410) return 'HTTP 410: the receiver accepts no more webhooks';
  if (status >= 300 && status < 400) return `HTTP ${status}: redirects are not followed`;
  return `HTTP ${status}`;
}
