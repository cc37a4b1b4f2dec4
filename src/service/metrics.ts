/** Everything `/metrics` shows, in one registry of its own. Only this folder knows prom-client. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { countClasses } from '../boxes/class-counts.js';
import type { ShadowOutcome } from '../aliases/shadow-runs.js';
import type { HttpMetrics, HttpObservation } from '../http/app-deps.js';
import { STAGES, type ImageResult } from '../api/image.js';
import { sourceMetrics, type MetricSources } from './source-metrics.js';

const MS = 0.001;
/** From a refused request to the longest wait of a synchronous detection. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** From the letterbox of a small picture to the decoding of a large one; the queue may be longer. */
const STAGE_BUCKETS = [
  0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1, 4, 16, 64,
];
/** From one small picture to a folder of a million. */
const JOB_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400];
/** From the shortest settle time to a night without a schedule. */
const LAG_BUCKETS = [0.25, 0.5, 1, 1.25, 1.5, 2, 3, 5, 10, 30, 60, 300, 900, 3_600, 43_200];
const LAG_RESOLUTION_MS = 10;
/** A series of an API key, or of a watch, which belongs to one. */
const NAMES_AN_OWNER = /^\w+\{(?:.*,)?(?:key|watch)="/;
/** Shown from the start: Prometheus sees no increase in the first value of a series, and alerts ask for increases. */
const FROM_THE_START = {
  images: ['ok', 'worker_lost', 'poison_input', 'detection_failed', 'internal_error'],
  jobsEnded: ['completed', 'failed'],
  webhookAttempts: ['succeeded', 'retry', 'gave_up'],
} as const;

export class Metrics implements HttpMetrics {
  private readonly registry = new Registry();
  private readonly lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  private readonly requests = new Histogram({
    name: 'lattice_http_request_seconds',
    help: 'Time from a request to its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_BUCKETS,
    registers: [this.registry],
  });
  private readonly stages = new Histogram({
    name: 'lattice_image_stage_seconds',
    help: 'Time of each stage of an image that gave a result.',
    labelNames: ['stage'],
    buckets: STAGE_BUCKETS,
    registers: [this.registry],
  });
  private readonly images = new Counter({
    name: 'lattice_images_total',
    help: 'Images by outcome: ok, or the error code.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  private readonly reusedImages = new Counter({
    name: 'lattice_images_reused_total',
    help: 'Images of jobs that took over a stored result and did not run.',
    registers: [this.registry],
  });
  /** Models and classes are those of model files, so the number of series stays bounded. */
  private readonly modelImages = new Counter({
    name: 'lattice_model_images_total',
    help: 'Images with a result, by model.',
    labelNames: ['model'],
    registers: [this.registry],
  });
  private readonly detections = new Counter({
    name: 'lattice_detections_total',
    help: 'Detections by model and class.',
    labelNames: ['model', 'class'],
    registers: [this.registry],
  });
  private readonly jobSeconds = new Histogram({
    name: 'lattice_job_seconds',
    help: 'Time from the start of a job to its end, by status: completed, failed.',
    labelNames: ['status'],
    buckets: JOB_BUCKETS,
    registers: [this.registry],
  });
  /** Names of watches are few. */
  private readonly watchLag = new Histogram({
    name: 'lattice_watch_lag_seconds',
    help: 'Time from the arrival of a file in a watched folder to its result, by watch.',
    labelNames: ['watch'],
    buckets: LAG_BUCKETS,
    registers: [this.registry],
  });
  private readonly jobsEnded = new Counter({
    name: 'lattice_jobs_ended_total',
    help: 'Jobs that ended, by status: completed, failed (cancelled ones are among them).',
    labelNames: ['status'],
    registers: [this.registry],
  });
  private readonly webhookAttempts = new Counter({
    name: 'lattice_webhook_attempts_total',
    help: 'Webhook attempts by outcome: succeeded, retry, gave_up.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  /** Aliases are few. */
  private readonly shadowImages = new Counter({
    name: 'lattice_shadow_images_total',
    help: 'Images of shadows by alias and outcome: compared, dropped (the service was busy), failed.',
    labelNames: ['alias', 'outcome'],
    registers: [this.registry],
  });
  private readonly streamClients = new Gauge({
    name: 'lattice_ws_clients',
    help: 'Open connections of /v1/stream.',
    registers: [this.registry],
  });

  private sources: MetricSources | null = null;

  /** `build` becomes the labels of `lattice_build_info`, for example version, openvino, device, precision. */
  constructor(build: Record<string, string>) {
    collectDefaultMetrics({ register: this.registry });
    const labels = { node: process.versions.node, ...build };
    new Gauge({
      name: 'lattice_build_info',
      help: 'Always 1; the labels say what runs.',
      labelNames: Object.keys(labels),
      registers: [this.registry],
    }).set(labels, 1);
    for (const outcome of FROM_THE_START.images) this.images.inc({ outcome }, 0);
    for (const status of FROM_THE_START.jobsEnded) this.jobsEnded.inc({ status }, 0);
    for (const outcome of FROM_THE_START.webhookAttempts) this.webhookAttempts.inc({ outcome }, 0);
    this.lag.enable();
    this.exposeLag();
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  async render(all = true): Promise<string> {
    const own = await this.registry.metrics();
    const text = this.sources === null ? own : own + (await sourceMetrics(this.sources));
    if (all) return text;
    return text
      .split('\n')
      .filter((line) => !NAMES_AN_OWNER.test(line))
      .join('\n');
  }

  observeRequest({ method, route, status, seconds }: HttpObservation): void {
    this.requests.observe({ method, route, status: String(status) }, seconds);
  }

  observeWatchLag(watch: string, seconds: number): void {
    this.watchLag.observe({ watch }, seconds);
  }

  setStreamClients(count: number): void {
    this.streamClients.set(count);
  }

  /** `result` is null for an image without one. */
  observeImage(outcome: string, result: ImageResult | null): void {
    this.images.inc({ outcome });
    if (result === null) return;
    for (const stage of STAGES) {
      const ms = result.timingsMs[stage];
      if (ms !== undefined) this.stages.observe({ stage }, ms * MS);
    }
    const { model, detections } = result;
    this.modelImages.inc({ model });
    for (const [name, count] of countClasses(detections))
      this.detections.inc({ model, class: name }, count);
  }

  countReused(images: number): void {
    this.reusedImages.inc(images);
  }

  /** `seconds`: from its start to its end; null for a job that ended before it started. */
  countEndedJob(status: 'completed' | 'failed', seconds: number | null): void {
    this.jobsEnded.inc({ status });
    if (seconds !== null) this.jobSeconds.observe({ status }, seconds);
  }

  countWebhookAttempt(outcome: string): void {
    this.webhookAttempts.inc({ outcome });
  }

  countShadow(alias: string, outcome: ShadowOutcome): void {
    this.shadowImages.inc({ alias, outcome });
  }

  /** Call once, when the sources exist. */
  watch(sources: MetricSources): void {
    this.sources = sources;
  }

  /** Stops the timers of the measurements. */
  close(): void {
    this.lag.disable();
    this.registry.clear();
  }

  private exposeLag(): void {
    const { lag } = this;
    const seconds = (nanoseconds: number) =>
      Math.max(0, nanoseconds / 1e9 - LAG_RESOLUTION_MS * MS) || 0;
    new Gauge({
      name: 'lattice_event_loop_lag_seconds',
      help: 'How late timers ran since the last reading; percentile 100 is the worst.',
      labelNames: ['percentile'],
      registers: [this.registry],
      collect() {
        this.set({ percentile: '50' }, seconds(lag.percentile(50)));
        this.set({ percentile: '99' }, seconds(lag.percentile(99)));
        this.set({ percentile: '100' }, seconds(lag.max));
        lag.reset();
      },
    });
  }
}
