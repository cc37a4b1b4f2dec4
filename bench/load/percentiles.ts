/** Order statistics of latencies in milliseconds. */
import { percentile } from '../../src/cli/bench/level.js';

export interface Latency {
  p50: number;
  p90: number;
  p99: number;
  max: number;
  count: number;
}

export function summarise(samples: readonly number[]): Latency {
  const sorted = [...samples].sort((a, b) => a - b);
  return {
    p50: percentile(sorted, 0.5),
    p90: percentile(sorted, 0.9),
    p99: percentile(sorted, 0.99),
    max: sorted.at(-1) ?? Number.NaN,
    count: sorted.length,
  };
}

export function median(samples: readonly number[]): number {
  return summarise(samples).p50;
}
