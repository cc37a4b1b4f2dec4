/** One level of load: measured in windows until the last three agree. */
import { setTimeout as sleep } from 'node:timers/promises';
import { STAGES, type Timings } from '../../api/schemas/image.js';
import type { Finished, Load, Note } from './load.js';

const WINDOWS = 3;
const SHARES = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99, max: 1 };

export interface LevelOptions {
  measurementInterval: number;
  stabilityPercentage: number;
  /** The percentile, 1 to 99, whose latency decides on stability. */
  percentile: number;
  maxTrials: number;
}

/** The level in the form of the file. Times are milliseconds. */
export type Level = ReturnType<typeof summarise>;

interface Window {
  seconds: number;
  good: Finished<Timings>[];
  errors: string[];
  /** The latency at the percentile that decides; NaN without an answer. */
  latency: number;
}

/** Rejects with the signal's reason when it goes off. */
export async function measureLevel(
  start: (note: Note<Timings>) => Load,
  options: LevelOptions,
  signal: AbortSignal,
) {
  const windows: Window[] = [];
  let finished: Finished<Timings>[] = [];
  const load = start((each) => finished.push(each));
  try {
    for (let trial = 0; trial < options.maxTrials; trial += 1) {
      const startedAt = performance.now();
      await sleep(options.measurementInterval, undefined, { signal });
      const seconds = (performance.now() - startedAt) / 1000;
      windows.push(windowOf(finished, seconds, options.percentile));
      finished = [];
      const [last] = windows.slice(-1);
      if (last?.good.length === 0 && last.errors.length > 0) break;
      if (areAlike(windows.slice(-WINDOWS), options.stabilityPercentage)) break;
    }
  } finally {
    load.stop();
    await load.ended;
  }
  const last = windows.slice(-WINDOWS);
  return summarise(last, areAlike(last, options.stabilityPercentage), options.percentile);
}

function windowOf(
  finished: readonly Finished<Timings>[],
  seconds: number,
  deciding: number,
): Window {
  const good = finished.filter(({ error }) => error === null);
  const errors = finished.flatMap(({ error }) => error ?? []);
  return { seconds, good, errors, latency: percentile(latencies(good), deciding / 100) };
}

function areAlike(windows: readonly Window[], percent: number): boolean {
  const alike = (values: number[]) =>
    Math.max(...values) <= Math.min(...values) * (1 + percent / 100);
  return (
    windows.length === WINDOWS &&
    windows.every(({ good }) => good.length > 0) &&
    alike(windows.map(({ good, seconds }) => good.length / seconds)) &&
    alike(windows.map(({ latency }) => latency))
  );
}

function summarise(windows: readonly Window[], stable: boolean, deciding: number) {
  const good = windows.flatMap((window) => window.good);
  const sorted = latencies(good);
  const shares = Object.entries(SHARES).map(([name, share]) => [name, percentile(sorted, share)]);
  const errors: Record<string, number> = {};
  for (const code of windows.flatMap((window) => window.errors)) {
    errors[code] = (errors[code] ?? 0) + 1;
  }
  return {
    images_per_second: good.length / windows.reduce((sum, { seconds }) => sum + seconds, 0),
    latency_ms: {
      mean: mean(sorted),
      ...(Object.fromEntries(shares) as Record<keyof typeof SHARES, number>),
    },
    /** The latency at the percentile that was asked for. */
    deciding_ms: percentile(sorted, deciding / 100),
    /** Means of the service's own times. */
    server_ms: Object.fromEntries(
      STAGES.map((stage) => [stage, mean(good.map(({ answer }) => answer?.[stage] ?? 0))]),
    ),
    requests: good.length,
    errors,
    stable,
  };
}

const latencies = (finished: readonly Finished<Timings>[]) =>
  finished.map(({ ms }) => ms).sort((a, b) => a - b);

const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** NaN of nothing. `share` is in (0, 1]. */
export function percentile(sorted: readonly number[], share: number): number {
  const index = Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1);
  return sorted[Math.max(0, index)] ?? Number.NaN;
}
