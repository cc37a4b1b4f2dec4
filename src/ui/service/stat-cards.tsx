import { useComputed } from '@preact/signals';
import { bytes, duration, grouped, seconds, significant } from '../text/format.js';
import { HISTORY_S, readings } from './history.js';
import { seriesOf } from './series.js';
import { StatCard } from './stat-card.js';

const perSecond = (value: number) => ({ text: significant(value), unit: '/s' });
const images = (value: number) => ({
  text: grouped(value),
  unit: value === 1 ? 'image' : 'images',
});

/** The last 15 minutes, a chart per figure. */
export function StatCards() {
  const series = useComputed(() => seriesOf(readings.value)).value;
  const { at } = series;
  const since = at[0] === undefined ? 0 : Date.now() / 1000 - at[0];
  return (
    <section aria-label="The last 15 minutes">
      <div class="stats">
        <StatCard
          title="Images"
          at={at}
          least={1}
          lines={[
            {
              label: 'images',
              values: series.imagesPerSecond,
              colour: '--accent',
              show: perSecond,
            },
          ]}
        />
        <StatCard
          title="Latency"
          at={at}
          least={0.1}
          lines={[
            { label: 'p95', values: series.p95, colour: '--accent', show: seconds },
            { label: 'p50', values: series.p50, colour: '--good', show: seconds },
          ]}
        />
        <StatCard
          title="Queue"
          at={at}
          least={4}
          lines={[
            { label: 'of jobs', values: series.queueJobs, colour: '--accent', show: images },
            { label: 'at once', values: series.queueSync, colour: '--good', show: images },
          ]}
        />
        <StatCard
          title="Failures"
          at={at}
          least={0.2}
          lines={[
            {
              label: 'failures',
              values: series.failuresPerSecond,
              colour: '--bad',
              show: perSecond,
            },
          ]}
        />
        <StatCard
          title="Memory"
          at={at}
          least={2 ** 28}
          lines={[{ label: 'memory', values: series.memoryBytes, colour: '--accent', show: bytes }]}
        />
      </div>
      {since < HISTORY_S - 30 && (
        <p class="fine collecting">
          Collecting since this page was opened, {duration(since)} ago; it keeps 15 minutes. For
          longer there is <a href="/metrics">/metrics</a>.
        </p>
      )}
    </section>
  );
}
