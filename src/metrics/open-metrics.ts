/** The metrics of a service, with those of its process. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { ReleaseList } from '../base/releases.js';
import { Metrics } from './metrics.js';

const LAG_RESOLUTION_MS = 10;

export function openMetrics(releases: ReleaseList): Metrics {
  const metrics = new Metrics();
  metrics.addProcess();
  const lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  lag.enable();
  const seconds = (nanoseconds: number) =>
    Math.max(0, nanoseconds / 1e9 - LAG_RESOLUTION_MS / 1e3) || 0;
  metrics.figures({
    name: 'lattice_event_loop_lag_seconds',
    help: 'How late timers ran since the last reading; percentile 100 is the worst.',
    label: 'percentile',
    read: () => {
      const read = {
        50: seconds(lag.percentile(50)),
        99: seconds(lag.percentile(99)),
        100: seconds(lag.max),
      };
      lag.reset();
      return read;
    },
  });
  releases.add('metrics', () => {
    lag.disable();
    metrics.close();
  });
  return metrics;
}
