/** Where images run, put together from settings: lanes behind one dispatcher, whatever the cluster. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config.js';
import type { Detector } from '../inference/detector.js';
import { openDetector, type OpenDetectorOptions } from '../inference/open-detector.js';
import type { JobService } from '../jobs/job.js';
import type { ClusterStatusSource } from './cluster-status.js';
import { Dispatcher } from './dispatcher.js';
import { EmbeddedLane } from './embedded-lane.js';
import { LaneDetector } from './lane-detector.js';
import { LocalCluster } from './local-cluster.js';
import type { Logger } from './logger.js';
import type { WorkerGate } from './remote/worker-gate.js';

export interface Cluster {
  /** Closing it closes the lanes. */
  detector: LaneDetector;
  status(jobs: Pick<JobService, 'counts'>): ClusterStatusSource;
  /** Where worker processes come in; left out where images run in this process. */
  workers?: WorkerGate;
}

/** This process is the cluster: its own detector is the only lane. Rejects as `openDetector`. */
export async function openLocalCluster(
  config: Config,
  version: string,
  logger: Logger,
  options: Pick<OpenDetectorOptions, 'abortOnPathSuffix' | 'onGpuLost'>,
): Promise<Cluster> {
  const native: Detector = await openDetector(config, logger, {
    ...options,
    crashMarkerPath: join(config.dataDir, 'crash.marker'),
  });
  const dispatcher = new Dispatcher(() => 'The service is starting.');
  dispatcher.join(new EmbeddedLane(native, hostname()));
  const detector = new LaneDetector(dispatcher, {
    catalogue: native,
    readImage: (path) => native.readImage(path),
  });
  const { threads } = config;
  return {
    detector,
    status: (jobs) => new LocalCluster({ detector, jobs, version, threads }),
  };
}
