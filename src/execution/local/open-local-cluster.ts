/** The cluster of one, put together: the detector of this process is the only lane. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../config.js';
import { openDetector, type OpenDetectorOptions } from '../open-detector.js';
import type { Cluster } from '../cluster.js';
import { Dispatcher } from '../dispatcher.js';
import { LaneDetector } from '../lane-detector.js';
import type { Logger } from '../../logger-port.js';
import { EmbeddedLane } from './embedded-lane.js';
import { LocalCluster } from './local-cluster.js';

export type EmbeddedOptions = Pick<OpenDetectorOptions, 'abortOnPathSuffix' | 'onGpuLost'>;

/** Rejects as `openDetector`. */
export async function openLocalCluster(
  config: Config,
  version: string,
  logger: Logger,
  options: EmbeddedOptions,
): Promise<Cluster> {
  const native = await openDetector(config, logger, {
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
    watch: (jobs) => new LocalCluster({ detector, jobs, version, threads }),
    workers: () => dispatcher.lanes(),
    events: () => ({ lost: 0, requeued: dispatcher.requeued, stale: 0 }),
    close: () => Promise.resolve(),
  };
}
