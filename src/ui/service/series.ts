/** Readings -> what is charted. Null where nothing is known: after a gap, a restart, or without requests. */
import type { TimeStep } from '../picture/time-steps.js';
import type { Buckets, Reading } from './reading.js';

type Values = (number | null)[];

export type Series = ReturnType<typeof seriesOf>;

/** Readings further apart are not joined. */
const LONGEST_STEP_S = 30;
/** A percentile is that of the requests of a minute: a few seconds have too few. */
const LATENCY_WINDOW_S = 60;

/** `at`: Unix seconds of each value. */
export function seriesOf(readings: readonly Reading[]) {
  const rate = (count: (reading: Reading) => number): Values =>
    readings.map((reading, index) => {
      const before = readings[index - 1];
      if (before === undefined || !isJoined(before, reading)) return null;
      const grown = count(reading) - count(before);
      return grown < 0 ? null : grown / (reading.at - before.at);
    });
  const latency = (share: number): Values =>
    readings.map((reading) => {
      const first = readings.find(({ at }) => at >= reading.at - LATENCY_WINDOW_S);
      if (first === undefined || first === reading) return null;
      return quantile(first.latency, reading.latency, share);
    });
  return {
    at: readings.map(({ at }) => at),
    imagesPerSecond: rate((reading) => reading.images + failuresOf(reading)),
    failuresPerSecond: rate(failuresOf),
    p50: latency(0.5),
    p95: latency(0.95),
    waiting: readings.map(({ waiting }) => waiting),
    inHand: readings.map(({ inHand }) => inHand),
    memoryBytes: readings.map(({ memoryBytes }) => memoryBytes),
  };
}

export function failuresOf({ failures }: Pick<Reading, 'failures'>): number {
  return Object.values(failures).reduce((sum, count) => sum + count, 0);
}

/** Failures by code since `before`, most first. */
export function newFailures(before: Reading, now: Reading): [code: string, count: number][] {
  return Object.entries(now.failures)
    .map(([code, count]): [string, number] => [code, count - (before.failures[code] ?? 0)])
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a);
}

/** Milliseconds of each step per image, between two readings. */
export function stepMeans(before: Reading, now: Reading): TimeStep[] {
  return Object.entries(now.steps).flatMap(([step, { ms, images }]) => {
    const { ms: msBefore = 0, images: imagesBefore = 0 } = before.steps[step] ?? {};
    const count = images - imagesBefore;
    return count > 0 ? [{ step: step.replace('_', ' '), ms: (ms - msBefore) / count }] : [];
  });
}

/** Quantile of the requests between two readings, in seconds; within its bucket a time is taken as evenly spread. */
export function quantile(before: Buckets, now: Buckets, share: number): number | null {
  const bounds = [...now.keys()].sort((a, b) => a - b);
  const upTo = bounds.map((bound) => (now.get(bound) ?? 0) - (before.get(bound) ?? 0));
  const all = upTo.at(-1) ?? 0;
  if (all <= 0 || upTo.some((count) => count < 0)) return null;
  const rank = share * all;
  const index = upTo.findIndex((count) => count >= rank);
  const [low, high] = [bounds[index - 1] ?? 0, bounds[index] ?? 0];
  if (high === Infinity) return low;
  const [less, most] = [upTo[index - 1] ?? 0, upTo[index] ?? 0];
  return low + ((high - low) * (rank - less)) / Math.max(1, most - less);
}

function isJoined(before: Reading, after: Reading): boolean {
  return after.at - before.at <= LONGEST_STEP_S;
}
