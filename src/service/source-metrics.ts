/** Figures that other parts keep, read at each request of `/metrics`. */
import { Counter, Gauge, Registry } from 'prom-client';
import { GPU_METRICS, type NodeGpu } from '../api/gpu-reading.js';
import { QUOTA_NAMES, QUOTAS } from '../api/quotas.js';
import type { KeyUse } from '../http/app-deps.js';
import { STATISTIC_METRICS, type DetectorStats } from '../api/statistics.js';
import { inTime } from '../base/in-time.js';

/** Less than Prometheus waits for the whole answer. */
const PATIENCE_MS = 2_000;

type Values = number | boolean | Record<string, number> | readonly Sample[];
interface Sample {
  labels: Record<string, string>;
  value: number;
}

interface Figure {
  name: string;
  help: string;
  /** A counter's source knows the value as it stands. */
  kind?: 'counter';
  /** Where the source gives numbers by the value of one label. */
  label?: string;
}

/** Each by its source. */
const FIGURES = {
  ready: {
    name: 'lattice_ready',
    help: '1 while /readyz answers 200, else 0; that answer and the log say why.',
  },
  jobs: { name: 'lattice_jobs', help: 'Jobs by status.', label: 'status' },
  jobImages: { name: 'lattice_job_images', help: 'Images of jobs that are still to be done.' },
  images: {
    name: 'lattice_images_now',
    help: 'Images that wait (no worker has them), and that workers have in hand.',
    label: 'state',
  },
  cpuWaitRatio: {
    name: 'lattice_cpu_wait_ratio',
    help: 'Of the time in which the event loop wanted a CPU, the share of the last 10 s in which it had none, 0 to 1.',
  },
  oldestJobSeconds: {
    name: 'lattice_oldest_job_seconds',
    help: 'How long the oldest job that has not started has waited; 0 when there is none.',
  },
  webhooksWaiting: {
    name: 'lattice_webhooks_waiting',
    help: 'Webhook deliveries that are still to be made.',
  },
  storeBytes: {
    name: 'lattice_store_bytes',
    help: 'Size of the job store: used by its tables, and of its file.',
    label: 'part',
  },
  storeFull: {
    name: 'lattice_store_full',
    help: '1 while new jobs are refused because the store has reached LATTICE_STORE_MAX_MB, else 0.',
  },
  drawnBytes: {
    name: 'lattice_drawn_copies_bytes',
    help: 'Size of the drawn copies, looked at once per hour.',
  },
  keptJobs: { name: 'lattice_kept_jobs', help: 'Jobs that the retention time does not remove.' },
  removedJobs: {
    name: 'lattice_jobs_removed_total',
    help: 'Jobs removed by reason: age, bound (LATTICE_STORE_MAX_MB), request.',
    kind: 'counter',
    label: 'reason',
  },
  watchesWaiting: {
    name: 'lattice_watch_waiting',
    help: 'Files that watches have seen and not yet submitted, by watch.',
  },
  watchesSkipped: {
    name: 'lattice_watch_skipped',
    help: 'Files that watches do not take, by watch and reason: empty, no permission, or the ending of a format that is not read.',
  },
  shadowShares: {
    name: 'lattice_shadow_agreement',
    help: 'Share of the boxes of the latest 50 pictures, 0 to 1, in which the shadow of an alias agrees with its model.',
  },
  workers: { name: 'lattice_workers', help: 'Workers by state.', label: 'state' },
  workerEvents: {
    name: 'lattice_worker_events_total',
    help: 'Workers lost, images requeued for it, stale answers refused.',
    kind: 'counter',
    label: 'event',
  },
} as const satisfies Record<string, Figure>;

/** A source that fails, or says nothing for two seconds, is left out of that answer. */
export interface MetricSources extends Record<
  keyof typeof FIGURES,
  () => Values | Promise<Values>
> {
  statistics: () => DetectorStats;
  /** Use by all keys; none without authentication. */
  keyUse: () => Promise<readonly KeyUse[]>;
  /** GPUs of all workers; none where there are none. */
  gpus: () => readonly NodeGpu[];
}

interface ReadFigure extends Figure {
  read: () => Values | Promise<Values>;
}

function figuresOf(sources: MetricSources): ReadFigure[] {
  return [
    ...Object.entries(FIGURES).map(([source, figure]) => ({
      ...figure,
      read: sources[source as keyof typeof FIGURES],
    })),
    ...STATISTIC_METRICS.map(({ read, ...figure }) => ({
      ...figure,
      read: () => read(sources.statistics()),
    })),
    ...QUOTA_NAMES.map((quota) => ({
      name: QUOTAS[quota].metric,
      help: `What each API key has of ${QUOTAS[quota].of}: ${QUOTAS[quota].text}.`,
      read: async () =>
        (await sources.keyUse()).map(({ name, quotas }) => ({
          labels: { key: name ?? '' },
          value: quotas.find((each) => each.quota === quota)?.used ?? 0,
        })),
    })),
    ...GPU_METRICS.map(({ read, ...figure }) => ({
      ...figure,
      read: () =>
        sources.gpus().flatMap((gpu) => {
          const value = read(gpu);
          const labels = { node: gpu.nodeId, gpu: String(gpu.index), uuid: gpu.uuid };
          return value === null ? [] : [{ labels, value }];
        }),
    })),
  ];
}

/** The figures as they stand, as text. One without a value, for example of GPUs where there are none, is left out. */
export async function sourceMetrics(sources: MetricSources): Promise<string> {
  const read = figuresOf(sources).map(async (figure) => ({
    ...figure,
    samples: await samplesOf(figure),
  }));
  const registry = new Registry();
  for (const { name, help, kind, samples } of await Promise.all(read)) {
    const [first] = samples;
    if (first === undefined) continue;
    const Metric: typeof Gauge | typeof Counter = kind === 'counter' ? Counter : Gauge;
    const labelNames = Object.keys(first.labels);
    const metric = new Metric({ name, help, labelNames, registers: [registry] });
    for (const { labels, value } of samples) metric.inc(labels, value);
  }
  return registry.metrics();
}

/** None where the source fails: a store that cannot be read must not hide all the other figures. */
async function samplesOf({ label = '', read }: ReadFigure): Promise<readonly Sample[]> {
  const answer = Promise.resolve().then(read);
  const values = await inTime(answer, PATIENCE_MS, []).catch((): Sample[] => []);
  if (typeof values !== 'object') return [{ labels: {}, value: Number(values) }];
  if (isList(values)) return values;
  return Object.entries(values).map(([each, value]) => ({ labels: { [label]: each }, value }));
}

/** `Array.isArray` does not tell a readonly list from an object. */
const isList = (values: object): values is readonly Sample[] => Array.isArray(values);
