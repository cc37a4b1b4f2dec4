/** Images, workers, GPUs and what the workers count, in the metrics. */
import { GPU_METRICS } from '../api/schemas/gpu-reading.js';
import { STAGES } from '../api/schemas/image.js';
import { STATISTIC_METRICS } from '../api/schemas/statistics.js';
import { countClasses } from '../boxes/class-counts.js';
import type { Executor } from '../execution/executor.js';
import type { AbsentWorker } from '../execution/near/absent-workers.js';
import { countByState, gpusOf } from '../execution/worker-stats.js';
import type { Metrics } from '../metrics/metrics.js';
import type { Cluster } from './cluster.js';

const MS = 0.001;
/** Buckets from the letterbox of a small picture to the decoding of a large one; the queue may be longer. */
const STAGE_BUCKETS = [
  0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1, 4, 16, 64,
];
const ALERTED_OUTCOMES = [
  'ok',
  'worker_lost',
  'poison_input',
  'detection_failed',
  'internal_error',
] as const;

export interface MeasuredCluster extends Pick<Cluster, 'absent'> {
  detector: Pick<Executor, 'stats' | 'workers' | 'events' | 'onImage'>;
}

export function addClusterMetrics(
  metrics: Metrics,
  version: string,
  { detector, absent }: MeasuredCluster,
): void {
  const { device, precision } = detector.stats();
  const build = { node: process.versions.node, version, device, precision };
  detector.onImage = imageCounters(metrics);
  metrics.figures(
    {
      name: 'lattice_build_info',
      help: 'Always 1; the labels say what runs.',
      read: () => [{ labels: build, value: 1 }],
    },
    {
      name: 'lattice_workers',
      help: 'Workers by state.',
      label: 'state',
      read: () => ({ ...countByState(detector.workers()), ...(absent && countAbsent(absent())) }),
    },
    {
      name: 'lattice_worker_events_total',
      help: 'Workers lost, images requeued for it, stale answers refused.',
      kind: 'counter',
      label: 'event',
      read: () => ({ ...detector.events }),
    },
    ...STATISTIC_METRICS.map(({ read, ...row }) => ({
      ...row,
      read: () => read(detector.stats()),
    })),
    ...GPU_METRICS.map(({ read, ...row }) => ({
      ...row,
      read: () =>
        gpusOf(detector.workers()).flatMap((gpu) => {
          const value = read(gpu);
          const labels = { node: gpu.nodeId, gpu: String(gpu.index), uuid: gpu.uuid };
          return value === null ? [] : [{ labels, value }];
        }),
    })),
  );
}

/** Models and classes are those of model files. */
function imageCounters(metrics: Metrics): Executor['onImage'] {
  const countImage = metrics.counter({
    name: 'lattice_images_total',
    help: 'Images by outcome: ok, or the error code.',
    labels: ['outcome'],
    fromStart: ALERTED_OUTCOMES.map((outcome) => ({ outcome })),
  });
  const observeStage = metrics.histogram({
    name: 'lattice_image_stage_seconds',
    help: 'Time of each stage of an image that gave a result.',
    labels: ['stage'],
    buckets: STAGE_BUCKETS,
  });
  const countModel = metrics.counter({
    name: 'lattice_model_images_total',
    help: 'Images with a result, by model.',
    labels: ['model'],
  });
  const countDetections = metrics.counter({
    name: 'lattice_detections_total',
    help: 'Detections by model and class.',
    labels: ['model', 'class'],
  });
  return (outcome, result) => {
    countImage({ outcome });
    if (result === null) return;
    const { model, detections, timingsMs } = result;
    for (const stage of STAGES) {
      const ms = timingsMs[stage];
      if (ms !== undefined) observeStage({ stage }, ms * MS);
    }
    countModel({ model });
    for (const [name, count] of countClasses(detections)) {
      countDetections({ model, class: name }, count);
    }
  };
}

function countAbsent(absent: readonly AbsentWorker[]): Record<AbsentWorker['state'], number> {
  const counts = { failed: 0, lost: 0, refused: 0 };
  for (const { state } of absent) counts[state] += 1;
  return counts;
}
