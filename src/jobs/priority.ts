/**
 * The order of work between jobs: level first, then submission. A job's level is its priority, raised by one for
 * every `ageingSeconds` since its submission. Where jobs that were raised meet jobs that were submitted at that
 * level, the two kinds take turns: old work gets on, and new urgent work keeps at least half.
 */
export const TOP_PRIORITY = 10;

export interface Ranked {
  number: number;
  priority: number;
  submittedAt: number;
}

export interface Rank {
  level: number;
  /** Raised by waiting. */
  aged: boolean;
}

export function rankOf(job: Ranked, now: number, ageingSeconds: number): Rank {
  // A clock set back must not lower a job beneath its own priority.
  const waited = Math.max(0, now - job.submittedAt);
  const level = Math.min(TOP_PRIORITY, job.priority + Math.floor(waited / ageingSeconds));
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
