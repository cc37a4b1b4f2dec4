import { beforeEach, expect, test } from 'vitest';
import { addClusterMetrics, type MeasuredCluster } from '../../src/clusters/cluster-metrics.js';
import { Metrics } from '../../src/metrics/metrics.js';
import { idleCluster } from '../support/every-metric.js';
import { FakeDetector } from '../support/fake-detector.js';
import { seriesValue } from '../support/metric-series.js';
import { oneCar } from '../support/scripted-detector.js';
import { GpuWorker, lostGpu, reportOf, simulatedGpu } from '../support/simulated-gpus.js';

let metrics: Metrics;
let read: MeasuredCluster['detector']['workers'];
let cluster: MeasuredCluster;
beforeEach(() => {
  metrics = new Metrics();
  const { detector } = idleCluster();
  cluster = { detector: { ...detector, workers: () => read() } };
  read = () => [];
  addClusterMetrics(metrics, '1.2.3', cluster);
});

const TIMINGS = { queue: 1, decode: 3, preprocess: 0.7, inference: 14, postprocess: 0.2 };

const value = (series: string) => seriesValue(metrics, series);

const on = (node: string, ...readings: ConstructorParameters<typeof GpuWorker>[2]) =>
  reportOf([new GpuWorker('worker-1', node, readings)]);

/** Series of the GPUs with their values. */
async function series(): Promise<Record<string, number>> {
  const lines = (await metrics.render()).split('\n');
  return Object.fromEntries(
    lines
      .filter((line) => line.startsWith('lattice_gpu'))
      .map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1))] as const;
      }),
  );
}

test('a service without GPUs has no such metric', async () => {
  read = () => [];
  expect(await metrics.render()).not.toContain('lattice_gpu');
});

test('each GPU has its figures, in base units', async () => {
  read = () =>
    on(
      'node-1',
      simulatedGpu(0),
      simulatedGpu(1, { slowedBy: ['thermal'], state: 'failed_check' }),
    );
  const first = '{node="node-1",gpu="0",uuid="GPU-0"}';
  const second = '{node="node-1",gpu="1",uuid="GPU-1"}';
  expect(await series()).toMatchObject({
    [`lattice_gpu_memory_total_bytes${first}`]: 80 * 2 ** 30,
    [`lattice_gpu_memory_used_bytes${first}`]: 2 ** 30,
    [`lattice_gpu_memory_used_bytes${second}`]: 2 * 2 ** 30,
    [`lattice_gpu_utilisation_ratio${first}`]: 0.5,
    [`lattice_gpu_temperature_celsius${second}`]: 41,
    [`lattice_gpu_power_watts${first}`]: 300.5,
    [`lattice_gpu_power_limit_watts${first}`]: 700,
    [`lattice_gpu_sm_clock_hertz${first}`]: 1.98e9,
    [`lattice_gpu_uncorrected_memory_errors_total${first}`]: 0,
    [`lattice_gpu_slowdown_reasons${first}`]: 0,
    [`lattice_gpu_slowdown_reasons${second}`]: 1,
    [`lattice_gpu_sample_age_seconds${first}`]: 0.4,
    [`lattice_gpu_usable${first}`]: 1,
    [`lattice_gpu_usable${second}`]: 0,
    [`lattice_gpu_up${first}`]: 1,
  });
  const text = await metrics.render();
  for (const name of new Set(Object.keys(await series()).map((key) => key.split('{')[0]!))) {
    expect(text).toMatch(new RegExp(`^# HELP ${name} .+\\.$`, 'm'));
  }
});

test('memory errors are a counter with the total of the driver, however often it is read', async () => {
  read = () => on('node-1', simulatedGpu(0, { uncorrectedMemoryErrors: 3 }));
  const name = 'lattice_gpu_uncorrected_memory_errors_total';
  for (let i = 0; i < 3; i += 1) {
    expect(await series()).toHaveProperty([`${name}{node="node-1",gpu="0",uuid="GPU-0"}`], 3);
  }
  expect(await metrics.render()).toContain(`# TYPE ${name} counter`);
});

test('what is not known is left out, and a GPU that went is gone', async () => {
  read = () => on('node-1', lostGpu(0), simulatedGpu(1));
  const lost = '{node="node-1",gpu="0",uuid="GPU-0"}';
  expect(await series()).toMatchObject({ [`lattice_gpu_up${lost}`]: 0 });
  expect(await series()).not.toHaveProperty([`lattice_gpu_memory_used_bytes${lost}`]);
  read = () => on('node-1', simulatedGpu(1));
  expect(Object.keys(await series()).some((key) => key.includes('GPU-0'))).toBe(false);
});

test('workers that cannot be read hide nothing else', async () => {
  read = () => {
    throw new Error('closed');
  };
  const text = await metrics.render();
  expect(text).toContain('lattice_worker_events_total{event="lost"} 0');
  expect(text).not.toContain('lattice_gpu');
});

test('build info says what runs', async () => {
  expect(await metrics.render()).toMatch(
    /^lattice_build_info\{node="\d+\.\d+\.\d+",version="1\.2\.3",device="\w+",precision="\w+"\} 1$/m,
  );
});

test('workers are counted by state, those that are absent too, and their events', async () => {
  const { detector } = idleCluster([new GpuWorker('worker-1', 'node-1', [])]);
  const away = { nodeId: 'node-2', state: 'lost', reason: 'Its node is down.' } as const;
  metrics = new Metrics();
  addClusterMetrics(metrics, '1.2.3', {
    detector: { ...detector, events: { lost: 1, requeued: 7, stale: 0 } },
    absent: () => [{ workerId: 'worker-2', ...away }],
  });
  expect(await value('lattice_workers{state="ready"}')).toBe(1);
  expect(await value('lattice_workers{state="lost"}')).toBe(1);
  expect(await value('lattice_worker_events_total{event="requeued"}')).toBe(7);
  expect(await metrics.render()).toContain('# TYPE lattice_worker_events_total counter\n');
});

test('what workers count is read when asked for', async () => {
  cluster.detector.stats = () => ({
    ...new FakeDetector().stats(),
    queuedAsync: 12,
    heldBytes: 96_000_000,
    hangingFolders: 1,
  });
  expect(await value('lattice_queue_images{class="async"}')).toBe(12);
  expect(await value('lattice_queue_images{class="sync"}')).toBe(0);
  expect(await value('lattice_held_pixel_bytes{class="async"}')).toBe(96_000_000);
  expect(await value('lattice_image_folders{state="hanging"}')).toBe(1);
});

test('images are counted by outcome, and their stages timed', async () => {
  cluster.detector.onImage('ok', { ...oneCar, timingsMs: TIMINGS });
  cluster.detector.onImage('image_not_found', null);
  expect(await value('lattice_images_total{outcome="ok"}')).toBe(1);
  expect(await value('lattice_images_total{outcome="image_not_found"}')).toBe(1);
  expect(await value('lattice_image_stage_seconds_count{stage="decode"}')).toBe(1);
  expect(await value('lattice_image_stage_seconds_sum{stage="inference"}')).toBeCloseTo(0.014);
  const loads = 'lattice_image_stage_seconds_count{stage="model_load"}';
  expect(await value(loads)).toBeUndefined();
  cluster.detector.onImage('ok', { ...oneCar, timingsMs: { ...TIMINGS, model_load: 1_200 } });
  expect(await value(loads)).toBe(1);
});

test('images are counted by model, their detections by class too', async () => {
  const [car] = oneCar.detections;
  const detections = ['car', 'van', 'car'].map((name) => ({ ...car!, class: name }));
  cluster.detector.onImage('ok', { ...oneCar, detections, model: 'own.pt' });
  cluster.detector.onImage('ok', oneCar);
  cluster.detector.onImage('unknown_model', null);
  expect(await value('lattice_model_images_total{model="own.pt"}')).toBe(1);
  expect(await value('lattice_model_images_total{model="yolov8n.pt"}')).toBe(1);
  expect(await value('lattice_detections_total{model="own.pt",class="car"}')).toBe(2);
  expect(await value('lattice_detections_total{model="own.pt",class="van"}')).toBe(1);
  expect(await value('lattice_detections_total{model="yolov8n.pt",class="car"}')).toBe(1);
});
