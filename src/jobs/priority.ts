/**
 * The order of work between jobs: level first, then submission. A job's level is its priority, raised by one for every
 * `ageingSeconds` that it waits. Raised jobs and jobs submitted at that level take turns: old work progresses, and new
 * urgent work gets at least half.
 */
import { TOP_PRIORITY } from '../api/options.js';

export interface Ranked {
  number: number;
  priority: number;
  /** Seconds of the monotonic clock: the system's clock may be set back. */
  waitingSince: number;
}

export interface Rank {
  level: number;
  /** Raised by waiting. */
  aged: boolean;
}

/** A submission in the future (the clock was set back since) counts as now. */
export function waitingSince(submittedAt: number): number {
  return monotonicSeconds() - Math.max(0, Date.now() / 1000 - submittedAt);
}

export function monotonicSeconds(): number {
  return performance.now() / 1000;
}

/** `now` by the monotonic clock, not before `waitingSince`. */
export function rankOf(job: Ranked, now: number, ageingSeconds: number): Rank {
  const raised = Math.floor((now - job.waitingSince) / ageingSeconds);
  const level = Math.min(TOP_PRIORITY, job.priority + raised);
  return { level, aged: level > job.priority };
}

/** Picks the next of `jobs`; `agedTurn` decides between the kinds where both are at the top level. */
export function pickNext<T extends Ranked>(
  jobs: Iterable<T>,
  agedTurn: boolean,
  rank: (job: T) => Rank,
): T | null {
  let best: T | null = null;
  let bestRank: Rank = { level: -1, aged: false };
  for (const job of jobs) {
    const own = rank(job);
    if (best === null || goesBefore(job, own, best, bestRank, agedTurn)) {
      best = job;
      bestRank = own;
    }
  }
  return best;
}

function goesBefore(a: Ranked, rankA: Rank, b: Ranked, rankB: Rank, agedTurn: boolean): boolean {
  if (rankA.level !== rankB.level) return rankA.level > rankB.level;
  if (rankA.aged !== rankB.aged) return rankA.aged === agedTurn;
  return a.number < b.number;
}
