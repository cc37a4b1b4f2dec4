/** Order statistics of latencies in milliseconds. */
export interface Latency {
  p50: number;
  p90: number;
  p99: number;
  max: number;
  count: number;
}

export function percentile(sorted: readonly number[], share: number): number {
  const index = Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1);
  return sorted[Math.max(0, index)] ?? Number.NaN;
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
