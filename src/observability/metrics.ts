/** Everything `/metrics` shows, in one registry of its own. With `gpu-metrics.ts` it alone knows prom-client. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { NodeGpu } from '../cluster/dispatch/lane-gpus.js';
import type { HttpMetrics, HttpObservation } from '../http/metrics-port.js';
import type { Timings } from '../inference/detector.js';
import { GpuMetrics } from './gpu-metrics.js';

const MS = 0.001;
/** From a refused request to the longest wait of a synchronous detection. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** From the letterbox of a small picture to the decoding of a large one; the queue may be longer. */
const STAGE_BUCKETS = [
  0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1, 4, 16, 64,
];
const LAG_RESOLUTION_MS = 10;

/** Values read when somebody asks for `/metrics`; one that fails is left out of that answer. */
export interface MetricSources {
  /** Jobs by status. */
  jobs: () => Promise<Record<string, number>>;
  /** Images waiting, by class (`sync`, `async`). */
  queuedImages: () => Record<string, number>;
  /** Bytes of decoded pixels that images of jobs hold. */
  heldBytes: () => number;
  /** Image folders whose volume does not answer, of each worker. */
  hangingFolders: () => number;
  /** Workers by state. */
  workers: () => Record<string, number>;
  /** Since the start: workers lost, images requeued, stale answers refused. */
  workerEvents: () => Record<string, number>;
  /** Of all workers; none where there are none. */
  gpus: () => readonly NodeGpu[];
}

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
  private readonly streamClients = new Gauge({
    name: 'lattice_ws_clients',
    help: 'Open connections of /v1/stream.',
    registers: [this.registry],
  });

  private gpus: GpuMetrics | null = null;

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
    this.lag.enable();
    this.exposeLag();
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  render(): Promise<string> {
    this.gpus?.refresh();
    return this.registry.metrics();
  }

  observeRequest({ method, route, status, seconds }: HttpObservation): void {
    this.requests.observe({ method, route, status: String(status) }, seconds);
  }

  setStreamClients(count: number): void {
    this.streamClients.set(count);
  }

  /** `timings` in milliseconds, as detectors give them; null for an image without a result. */
  observeImage(outcome: string, timings: Timings | null): void {
    this.images.inc({ outcome });
    if (timings === null) return;
    for (const [stage, ms] of Object.entries(timings)) this.stages.observe({ stage }, ms * MS);
  }

  countEndedJob(status: 'completed' | 'failed'): void {
    this.jobsEnded.inc({ status });
  }

  countWebhookAttempt(outcome: string): void {
    this.webhookAttempts.inc({ outcome });
  }

  /** Call once, when the sources exist. */
  watch(sources: MetricSources): void {
    this.exposeByLabel('lattice_jobs', 'Jobs by status.', 'status', sources.jobs);
    this.exposeByLabel('lattice_queue_images', 'Images waiting, by class.', 'class', () =>
      Promise.resolve(sources.queuedImages()),
    );
    this.exposeByLabel(
      'lattice_held_pixel_bytes',
      'Decoded pixels that wait for the network or are in it, by class.',
      'class',
      () => Promise.resolve({ async: sources.heldBytes() }),
    );
    this.exposeByLabel(
      'lattice_image_folders',
      'Image folders whose volume does not answer, of each worker.',
      'state',
      () => Promise.resolve({ hanging: sources.hangingFolders() }),
    );
    this.exposeByLabel('lattice_workers', 'Workers by state.', 'state', () =>
      Promise.resolve(sources.workers()),
    );
    this.exposeByLabel(
      'lattice_worker_events_total',
      'Workers lost, images requeued for it, stale answers refused.',
      'event',
      () => Promise.resolve(sources.workerEvents()),
      Counter,
    );
    this.gpus = new GpuMetrics(this.registry, sources.gpus);
  }

  /** Stops the timers of the measurements. */
  close(): void {
    this.lag.disable();
    this.registry.clear();
  }

  /** Of a `Counter` too the source knows the value as it stands. */
  private exposeByLabel(
    name: string,
    help: string,
    label: string,
    read: () => Promise<Record<string, number>>,
    Metric: typeof Gauge | typeof Counter = Gauge,
  ): void {
    new Metric({
      name,
      help,
      labelNames: [label],
      registers: [this.registry],
      async collect() {
        // Absent series are honest: a store that cannot be read must not hide all the other figures.
        const values = await Promise.resolve()
          .then(read)
          .catch(() => ({}));
        // Together, with no await in between: two may ask for the metrics at a time.
        this.reset();
        for (const [value, count] of Object.entries(values)) this.inc({ [label]: value }, count);
      },
    });
  }

  private exposeLag(): void {
    const { lag } = this;
    const seconds = (nanoseconds: number) =>
      Math.max(0, nanoseconds / 1e9 - LAG_RESOLUTION_MS * MS) || 0;
    new Gauge({
      name: 'lattice_event_loop_lag_seconds',
      help: 'How late timers ran since the last reading; quantile 1 is the worst.',
      labelNames: ['quantile'],
      registers: [this.registry],
      collect() {
        this.set({ quantile: '0.5' }, seconds(lag.percentile(50)));
        this.set({ quantile: '0.99' }, seconds(lag.percentile(99)));
        this.set({ quantile: '1' }, seconds(lag.max));
        lag.reset();
      },
    });
  }
}
