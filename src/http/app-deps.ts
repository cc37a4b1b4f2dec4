/** Dependencies of the HTTP app and the event stream, which open no files or ports themselves. */
import type { Config } from '../settings/config.js';
import type { ClusterStatusSource } from '../clusters/cluster-status.js';
import type { ModelDigests } from '../execution/worker-models.js';
import type { WorkerReport } from '../execution/worker-stats.js';
import type { AbsentWorker } from '../execution/near/absent-workers.js';
import type { WorkerGate } from '../execution/near/worker-gate.js';
import type { LatticeError } from '../api/errors.js';
import type { Allowance, QuotaName } from '../api/quotas.js';
import type { ServiceState } from '../api/service-state.js';
import type { Detection } from '../api/image.js';
import type { Detector } from '../execution/detector.js';
import type { JobService } from '../jobs/job-service.js';
import type { Uploads } from '../uploads/uploads.js';
import type { Views } from '../views/views.js';
import type { Watches } from '../watches/watches.js';
import type { WebhookDeliveryState } from '../store/webhook-delivery.js';
import type { ModelAliases } from '../aliases/model-aliases.js';
import type { ShadowRuns } from '../aliases/shadow-runs.js';
import type { ApiKeys } from './access/api-keys.js';
import type { Logger } from '../base/logger-port.js';
import type { Tracing } from '../base/tracing-port.js';

/** Metrics that HTTP and WebSocket report, and how `/metrics` reads them. */
export interface HttpMetrics {
  /** Content-Type of `render()`. */
  readonly contentType: string;
  /** Not `all`: without the series that name a key or a watch. */
  render(all: boolean): Promise<string>;
  /** `route` is the path template, `unmatched` when there is none, so that the number of series stays bounded. */
  observeRequest(request: HttpObservation): void;
  /** Open connections of `/v1/stream`. */
  setStreamClients(count: number): void;
}

export interface HttpObservation {
  method: string;
  route: string;
  status: number;
  seconds: number;
}

interface WebhookDeliveries {
  forJob(jobId: string): Promise<readonly WebhookDeliveryState[]>;
  /** Makes them due at `now`, in Unix seconds; gives their number. */
  redeliver(jobId: string, now: number): Promise<number>;
}

/** Use of the shared resources by an API key. */
export interface KeyUse {
  /** Null without authentication. */
  owner: string | null;
  name: string | null;
  isAdmin: boolean;
  quotas: readonly {
    quota: QuotaName;
    used: number;
    /** Null: it may have all. */
    allowance: Allowance | null;
    /** 0: no bound. */
    whole: number;
  }[];
}

export interface AppDeps {
  config: Config;
  /** Version of the service, shown in `/openapi.json`. */
  version: string;
  jobs: JobService;
  uploads: Uploads;
  views: Views;
  watches: Pick<Watches, 'list' | 'get' | 'add' | 'change' | 'remove'>;
  /** Why jobs cannot be stored at the moment; null when they can. */
  jobsHealth(): Promise<LatticeError | null>;
  /** Knows models by their aliases too. */
  detector: Detector;
  aliases: ModelAliases;
  shadows: Pick<ShadowRuns, 'agreement'>;
  cluster: ClusterStatusSource;
  /** Whether the service keeps up. `waiting`: images that no worker has. */
  serviceState: (waiting: number) => ServiceState;
  /** The workers that run images at this moment. */
  workers: () => readonly WorkerReport[];
  /** Digests of the service's own model files. */
  modelDigests: () => ModelDigests;
  /** Workers that should run images and do not. */
  absentWorkers: () => readonly AbsentWorker[];
  /** Accepts worker processes. Null: images run in this process. */
  gate: WorkerGate | null;
  metrics: HttpMetrics;
  logger: Logger;
  /** Null: requests take part in the traces of their callers, and none is exported. */
  tracing: Tracing | null;
  /** Null: no authentication. */
  apiKeys: ApiKeys | null;
  /** Use by these owners; without them by all keys. */
  keyUse: (owners?: readonly (string | null)[]) => Promise<readonly KeyUse[]>;
  /** True once a stop has begun: new work is refused, reads go on. */
  draining: () => boolean;
  /** Drawn copy by its file name (`NAME.jpg`, unguessable); null when there is none of that key. */
  readAnnotated: (file: string, keyId: string | null) => Promise<Buffer | null>;
  /** Draws the boxes into a copy of that key and returns the file name for `readAnnotated`. */
  annotate: (
    image: string | Buffer,
    detections: readonly Detection[],
    keyId: string | null,
  ) => Promise<string>;
  /** Draws the boxes into a JPEG copy that is not kept. */
  draw: (image: string | Buffer, detections: readonly Detection[]) => Promise<Uint8Array>;
  /** Deliveries of a job's webhook, and the way to send them again. */
  webhooks: WebhookDeliveries;
}
