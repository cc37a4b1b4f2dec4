/** The header Retry-After of an answer. */

/** Longest wait that another machine can set: 10 hours, the longest regular one of a webhook. */
export const MAX_RETRY_AFTER_S = 36_000;

/**
 * Seconds to wait, from either form of the header (RFC 9110 10.2.3), 0 to `MAX_RETRY_AFTER_S`; `now` in Unix seconds.
 */
export function parseRetryAfter(header: string | null, now: number): number {
  if (header === null) return 0;
  const text = header.trim();
  const seconds = /^\d+$/.test(text) ? Number(text) : Date.parse(text) / 1000 - now;
  return Number.isNaN(seconds) ? 0 : Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_S);
}
