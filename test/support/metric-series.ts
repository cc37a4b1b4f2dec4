import type { Metrics } from '../../src/metrics/metrics.js';

/** Value of one series, labels included in its name; undefined when it is not shown. */
export async function seriesValue(metrics: Metrics, series: string): Promise<number | undefined> {
  const line = (await metrics.render()).split('\n').find((text) => text.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}
