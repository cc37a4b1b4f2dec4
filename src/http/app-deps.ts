/** Dependencies of the HTTP app and the event stream, which open no files or ports themselves. */
import type { Config } from '../settings/config.js';
import type { ClusterStatusSource } from '../clusters/cluster-status.js';
import type { Cluster } from '../clusters/cluster.js';
import type { Executor } from '../execution/executor.js';
import type { LatticeError } from '../api/errors.js';
import type { ServiceState } from '../api/schemas/service-state.js';
import type { Detector } from '../execution/detector.js';
import type { JobService } from '../jobs/job-service.js';
import type { Uploads } from '../uploads/uploads.js';
import type { Views } from '../views/views.js';
import type { Watches } from '../watches/watches.js';
import type { WebhookDeliveryState } from '../store/webhook-delivery.js';
import type { ModelAliases } from '../aliases/model-aliases.js';
import type { ShadowRuns } from '../aliases/shadow-runs.js';
import type { Annotator } from '../annotate/annotate.js';
import type { ApiKeys } from './access/api-keys.js';
import type { ReadKeyUse } from './access/key-use.js';
import type { Logger } from '../base/logger-port.js';
import type { Tracing } from '../base/tracing-port.js';

/** Metrics that HTTP and WebSocket report, and how `/metrics` reads them. */
export interface HttpMetrics {
  /** Content-Type of `render()`. */
  readonly contentType: string;
  /** `all` false: the series that name a key or a watch are left out. */
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

export interface AppDeps {
  config: Config;
  /** Version of the service, shown in `/openapi.json`. */
  version: string;
  jobs: JobService;
  uploads: Uploads;
  views: Views;
  watches: Pick<
    Watches,
    'list' | 'get' | 'add' | 'change' | 'remove' | 'cameras' | 'changeFinding'
  >;
  /** Why jobs cannot be stored at the moment; null when they can. */
  jobsHealth(): Promise<LatticeError | null>;
  /** Knows models by their aliases too. */
  detector: Detector;
  aliases: ModelAliases;
  shadows: Pick<ShadowRuns, 'agreement'>;
  /** The cluster that runs images. */
  cluster: Pick<Cluster, 'gate' | 'absent'> & {
    detector: Pick<Executor, 'workers' | 'modelDigests'>;
  };
  clusterStatus: ClusterStatusSource;
  /** Whether the service keeps up. `waiting`: images that no worker has. */
  serviceState: (waiting: number) => ServiceState;
  metrics: HttpMetrics;
  logger: Logger;
  /** Null: requests take part in the traces of their callers, and none is exported. */
  tracing: Tracing | null;
  /** Null: no authentication. */
  apiKeys: ApiKeys | null;
  keyUse: ReadKeyUse;
  /** True once a stop has begun: new work is refused, reads go on. */
  draining: () => boolean;
  annotator: Pick<Annotator, 'read' | 'annotate' | 'pictures'>;
  /** Deliveries of a job's webhook, and the way to send them again. */
  webhooks: WebhookDeliveries;
}
