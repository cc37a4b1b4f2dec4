/** Figures that other parts keep, read at each request of `/metrics`. */
import { Counter, Gauge, type Registry } from 'prom-client';
import { STATISTIC_METRICS, type DetectorStats } from '../api/statistics.js';
import type { NodeGpu } from '../execution/worker-stats.js';
import { inTime } from '../base/in-time.js';

/** Less than Prometheus waits for the whole answer. */
const PATIENCE_MS = 2_000;

type ByLabel = Record<string, number>;

/** A source that fails, or says nothing for two seconds, is left out of that answer. `FIGURES` says what each is. */
export interface MetricSources {
  /** Whether traffic may come, as `/readyz` has it. */
  ready: () => Promise<boolean>;
  jobs: () => Promise<ByLabel>;
  jobImages: () => Promise<number>;
  oldestJobSeconds: () => Promise<number>;
  webhooksWaiting: () => Promise<number>;
  statistics: () => DetectorStats;
  workers: () => ByLabel;
  workerEvents: () => ByLabel;
  /** Of all workers; none where there are none. */
  gpus: () => readonly NodeGpu[];
}

interface Figure {
  name: string;
  help: string;
  /** A counter's source knows the value as it stands. */
  kind?: 'counter';
  /** Where `read` gives numbers by label; left out where it gives one number. */
  label?: string;
  read: (sources: MetricSources) => ByLabel | number | Promise<ByLabel | number>;
}

const FIGURES: readonly Figure[] = [
  {
    name: 'lattice_ready',
    help: '1 while /readyz answers 200, else 0; that answer and the log say why.',
    read: async ({ ready }) => ((await ready()) ? 1 : 0),
  },
  { name: 'lattice_jobs', help: 'Jobs by status.', label: 'status', read: ({ jobs }) => jobs() },
  {
    name: 'lattice_job_images',
    help: 'Images of jobs that are still to be done.',
    read: ({ jobImages }) => jobImages(),
  },
  {
    name: 'lattice_oldest_job_seconds',
    help: 'How long the oldest job that has not started has waited; 0 when there is none.',
    read: ({ oldestJobSeconds }) => oldestJobSeconds(),
  },
  {
    name: 'lattice_webhooks_waiting',
    help: 'Webhook deliveries that are still to be made.',
    read: ({ webhooksWaiting }) => webhooksWaiting(),
  },
  ...STATISTIC_METRICS.map(({ read, ...figure }) => ({
    ...figure,
    read: ({ statistics }: MetricSources) => read(statistics()),
  })),
  {
    name: 'lattice_workers',
    help: 'Workers by state.',
    label: 'state',
    read: ({ workers }) => workers(),
  },
  {
    name: 'lattice_worker_events_total',
    help: 'Workers lost, images requeued for it, stale answers refused.',
    kind: 'counter',
    label: 'event',
    read: ({ workerEvents }) => workerEvents(),
  },
];

export function exposeSources(registry: Registry, sources: MetricSources): void {
  for (const figure of FIGURES) expose(registry, figure, sources);
}

function expose(registry: Registry, figure: Figure, sources: MetricSources): void {
  const { name, help, kind, label, read } = figure;
  const Metric: typeof Gauge | typeof Counter = kind === 'counter' ? Counter : Gauge;
  new Metric({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [registry],
    async collect() {
      // Absent series are honest: a store that cannot be read must not hide all the other figures.
      const answer = Promise.resolve().then(() => read(sources));
      const values = await inTime(answer, PATIENCE_MS, {}).catch(() => ({}));
      // Together, with no await in between: two may ask for the metrics at a time.
      this.reset();
      if (label === undefined) this.remove(); // what reset leaves is a 0
      if (typeof values === 'number') this.inc(values);
      else if (label !== undefined) {
        for (const [value, count] of Object.entries(values)) this.inc({ [label]: value }, count);
      }
    },
  });
}
