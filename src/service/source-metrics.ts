/** Figures that other parts keep, read at each request of `/metrics`. */
import { Counter, Gauge, Registry } from 'prom-client';
import { GPU_METRICS, type NodeGpu } from '../api/gpu-reading.js';
import { STATISTIC_METRICS, type DetectorStats } from '../api/statistics.js';
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
  /** Of `read` that gives numbers by the value of one label. */
  label?: string;
  read: (sources: MetricSources) => Values | Promise<Values>;
}

type Values = number | ByLabel | readonly Sample[];
interface Sample {
  labels: Record<string, string>;
  value: number;
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
  ...GPU_METRICS.map(({ read, ...figure }) => ({
    ...figure,
    read: ({ gpus }: MetricSources) =>
      gpus().flatMap((gpu) => {
        const value = read(gpu);
        const labels = { node: gpu.nodeId, gpu: String(gpu.index), uuid: gpu.uuid };
        return value === null ? [] : [{ labels, value }];
      }),
  })),
];

/** The figures as they stand, as text. One without a value, for example of GPUs where there are none, is left out. */
export async function sourceMetrics(sources: MetricSources): Promise<string> {
  const samples = await Promise.all(FIGURES.map((figure) => samplesOf(figure, sources)));
  const registry = new Registry();
  for (const [index, { name, help, kind }] of FIGURES.entries()) {
    const found = samples[index] ?? [];
    const [first] = found;
    if (first === undefined) continue;
    const Metric: typeof Gauge | typeof Counter = kind === 'counter' ? Counter : Gauge;
    const labelNames = Object.keys(first.labels);
    const metric = new Metric({ name, help, labelNames, registers: [registry] });
    for (const { labels, value } of found) metric.inc(labels, value);
  }
  return registry.metrics();
}

/** None where the source fails: a store that cannot be read must not hide all the other figures. */
async function samplesOf(
  { label = '', read }: Figure,
  sources: MetricSources,
): Promise<readonly Sample[]> {
  const answer = Promise.resolve().then(() => read(sources));
  const values = await inTime(answer, PATIENCE_MS, []).catch((): Sample[] => []);
  if (typeof values === 'number') return [{ labels: {}, value: values }];
  if (isList(values)) return values;
  return Object.entries(values).map(([each, value]) => ({ labels: { [label]: each }, value }));
}

/** `Array.isArray` does not tell a readonly list from an object. */
const isList = (values: ByLabel | readonly Sample[]): values is readonly Sample[] =>
  Array.isArray(values);
