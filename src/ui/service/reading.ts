/** The figures of `/metrics` at one moment that the page keeps. */

/** Upper bound in seconds -> requests up to it. */
export type Buckets = ReadonlyMap<number, number>;

export interface Reading {
  /** Unix seconds. */
  at: number;
  /** Images with a result, and without, by error code. */
  images: number;
  failures: Readonly<Record<string, number>>;
  /** Latency of synchronous detections that were answered. */
  latency: Buckets;
  queueSync: number | null;
  /** Images that no worker has yet, and those that workers have. */
  waiting: number | null;
  inHand: number | null;
  memoryBytes: number | null;
  /** Images by model. */
  models: Readonly<Record<string, number>>;
  /** Sum of milliseconds by step, and the images in it. */
  steps: Readonly<Record<string, { ms: number; images: number }>>;
}

const DETECT = '/v1/inference/detect';

export function readingOf(metrics: readonly Metric[], at: number): Reading {
  const all = (name: string) => metrics.filter((metric) => metric.name === name);
  const one = (name: string, label?: string) =>
    all(name).find(({ labels }) => label === undefined || Object.values(labels).includes(label))
      ?.value ?? null;
  const outcomes = byLabel(all('lattice_images_total'), 'outcome');
  const { ok = 0, ...failures } = outcomes;
  return {
    at,
    images: ok,
    failures,
    latency: latencyOf(all('lattice_http_request_seconds_bucket')),
    queueSync: one('lattice_queue_images', 'sync'),
    waiting: one('lattice_images_now', 'waiting'),
    inHand: one('lattice_images_now', 'in_hand'),
    memoryBytes: one('process_resident_memory_bytes'),
    models: byLabel(all('lattice_model_images_total'), 'model'),
    steps: stepsOf(
      all('lattice_image_stage_seconds_sum'),
      all('lattice_image_stage_seconds_count'),
    ),
  };
}

function byLabel(metrics: readonly Metric[], label: string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { labels, value } of metrics) {
    const name = labels[label] ?? '';
    sums[name] = (sums[name] ?? 0) + value;
  }
  return sums;
}

function latencyOf(buckets: readonly Metric[]): Buckets {
  const counts = new Map<number, number>();
  for (const { labels, value } of buckets) {
    if (labels.route !== DETECT || labels.status?.startsWith('2') !== true) continue;
    const bound = labels.le === '+Inf' ? Infinity : Number(labels.le);
    counts.set(bound, (counts.get(bound) ?? 0) + value);
  }
  return counts;
}

function stepsOf(sums: readonly Metric[], counts: readonly Metric[]): Reading['steps'] {
  const images = byLabel(counts, 'stage');
  const seconds = byLabel(sums, 'stage');
  const steps = Object.entries(seconds).map(([step, sum]) => [
    step,
    { ms: sum * 1000, images: images[step] ?? 0 },
  ]);
  return Object.fromEntries(steps) as Reading['steps'];
}

interface Metric {
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;
const ESCAPES: Record<string, string> = { '\\n': '\n', '\\"': '"', '\\\\': '\\' };

export function readMetrics(text: string): Metric[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) return [];
    return [{ name, labels: readLabels(labels), value: readNumber(value) }];
  });
}

function readLabels(text: string): Record<string, string> {
  const pairs = [...text.matchAll(LABEL)].map(([, name = '', value = '']) => [
    name,
    value.replace(/\\[n"\\]/g, (escape) => ESCAPES[escape] ?? escape),
  ]);
  return Object.fromEntries(pairs) as Record<string, string>;
}

/** `+Inf` is no number of JavaScript. */
function readNumber(text: string): number {
  return text.endsWith('Inf') ? Number(text.replace('Inf', 'Infinity')) : Number(text);
}
