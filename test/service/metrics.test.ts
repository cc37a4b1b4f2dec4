import { afterEach, beforeEach, expect, test } from 'vitest';
import { countJobs } from '../../src/service/feed-metrics.js';
import type { JobEventName } from '../../src/api/events.js';
import type { JobEvent } from '../../src/store/job.js';
import { Metrics } from '../../src/service/metrics.js';
import { seriesValue } from '../support/metric-series.js';
import { oneCar } from '../support/scripted-detector.js';

let metrics: Metrics;
beforeEach(() => {
  metrics = new Metrics({ version: '1.2.3', device: 'cpu' });
});
afterEach(() => {
  metrics.close();
});

const TIMINGS = { queue: 1, decode: 3, preprocess: 0.7, inference: 14, postprocess: 0.2 };

const value = (series: string) => seriesValue(metrics, series);

test('requests are counted by method, route and status, in seconds', async () => {
  metrics.observeRequest({ method: 'GET', route: '/healthz', status: 200, seconds: 0.004 });
  metrics.observeRequest({ method: 'GET', route: '/healthz', status: 200, seconds: 0.2 });
  const labels = 'method="GET",route="/healthz",status="200"';
  expect(await value(`lattice_http_request_seconds_count{${labels}}`)).toBe(2);
  expect(await value(`lattice_http_request_seconds_bucket{le="0.005",${labels}}`)).toBe(1);
  expect(await value(`lattice_http_request_seconds_sum{${labels}}`)).toBeCloseTo(0.204);
});

test('jobs that ended are counted by status, their duration from their start', async () => {
  const listeners: ((event: JobEvent) => void)[] = [];
  countJobs(metrics, {
    onEvent: (listener) => {
      listeners.push(listener);
      return () => undefined;
    },
  });
  const tell = (event: JobEventName, jobId: string, timestamp: number) => {
    const fields = {
      status: 'running',
      seq: 1,
      progress: 0,
      failedImages: 0,
      reusedImages: 0,
      keyId: null,
    } as const;
    for (const listener of listeners) listener({ ...fields, event, jobId, timestamp });
  };
  tell('job_submitted', 'a', 100);
  tell('job_started', 'a', 140);
  tell('job_started', 'b', 141);
  tell('job_failed', 'never started', 142);
  tell('job_completed', 'b', 141.2);
  tell('job_completed', 'a', 160);
  expect(await value('lattice_job_seconds_count{status="completed"}')).toBe(2);
  expect(await value('lattice_job_seconds_sum{status="completed"}')).toBeCloseTo(20.2);
  expect(await value('lattice_job_seconds_bucket{le="0.25",status="completed"}')).toBe(1);
  expect(await value('lattice_job_seconds_count{status="failed"}')).toBeUndefined();
  expect(await value('lattice_jobs_ended_total{status="completed"}')).toBe(2);
  expect(await value('lattice_jobs_ended_total{status="failed"}')).toBe(1);
});

test('build info, process defaults and event-loop lag are there, in the Prometheus format', async () => {
  expect(metrics.contentType).toMatch(/^text\/plain; version=0\.0\.4/);
  const text = await metrics.render();
  expect(text).toMatch(
    /^lattice_build_info\{node="\d+\.\d+\.\d+",version="1\.2\.3",device="cpu"\} 1$/m,
  );
  expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
  const wait = new Int32Array(new SharedArrayBuffer(4));
  await new Promise((resolve) => setTimeout(resolve, 30));
  Atomics.wait(wait, 0, 0, 300);
  await new Promise((resolve) => setTimeout(resolve, 30));
  const most = 'lattice_event_loop_lag_seconds{percentile="100"}';
  const held = (await value(most))!;
  expect(held).toBeGreaterThan(0.2);
  await new Promise((resolve) => setTimeout(resolve, 30));
  // A most that is not begun anew cannot fall, however busy the machine is.
  expect(await value(most)).toBeLessThan(held);
});

test('webhook attempts are counted by outcome', async () => {
  metrics.countWebhookAttempt('retry');
  metrics.countWebhookAttempt('retry');
  metrics.countWebhookAttempt('succeeded');
  expect(await value('lattice_webhook_attempts_total{outcome="retry"}')).toBe(2);
  expect(await value('lattice_webhook_attempts_total{outcome="succeeded"}')).toBe(1);
});

test('images are counted by outcome, and their stages timed', async () => {
  metrics.observeImage('ok', { ...oneCar, timingsMs: TIMINGS });
  metrics.observeImage('image_not_found', null);
  expect(await value('lattice_images_total{outcome="ok"}')).toBe(1);
  expect(await value('lattice_images_total{outcome="image_not_found"}')).toBe(1);
  expect(await value('lattice_image_stage_seconds_count{stage="decode"}')).toBe(1);
  expect(await value('lattice_image_stage_seconds_sum{stage="inference"}')).toBeCloseTo(0.014);
  const loads = 'lattice_image_stage_seconds_count{stage="model_load"}';
  expect(await value(loads)).toBeUndefined();
  metrics.observeImage('ok', { ...oneCar, timingsMs: { ...TIMINGS, model_load: 1_200 } });
  expect(await value(loads)).toBe(1);
});

test('images are counted by model, their detections by class too', async () => {
  const [car] = oneCar.detections;
  const detections = ['car', 'van', 'car'].map((name) => ({ ...car!, class: name }));
  metrics.observeImage('ok', { ...oneCar, detections, model: 'own.pt' });
  metrics.observeImage('ok', oneCar);
  metrics.observeImage('unknown_model', null);
  expect(await value('lattice_model_images_total{model="own.pt"}')).toBe(1);
  expect(await value('lattice_model_images_total{model="yolov8n.pt"}')).toBe(1);
  expect(await value('lattice_detections_total{model="own.pt",class="car"}')).toBe(2);
  expect(await value('lattice_detections_total{model="own.pt",class="van"}')).toBe(1);
  expect(await value('lattice_detections_total{model="yolov8n.pt",class="car"}')).toBe(1);
});
