/** The jobs of a service, from its settings. */
import type { Allowances } from '../store/allowances.js';
import type { Annotator } from '../annotate/annotate.js';
import type { Logger } from '../base/logger-port.js';
import type { ReleaseList } from '../base/releases.js';
import type { Detector } from '../execution/detector.js';
import { fileLooks } from '../files/file-looks.js';
import { PictureTimes } from '../files/picture-times.js';
import type { Metrics } from '../metrics/metrics.js';
import type { Config } from '../settings/config.js';
import type { ServiceStore } from '../store/service-store.js';
import { addJobMetrics, reusedCounter } from './job-metrics.js';
import { createJobs, type Jobs, type JobsOptions } from './jobs.js';

export interface JobParts extends Pick<JobsOptions, 'uploads' | 'views'> {
  config: Config;
  version: string;
  store: ServiceStore;
  detector: Detector;
  annotator: Pick<Annotator, 'annotate' | 'remove'>;
  allowances: Allowances;
  logger: Logger;
  metrics: Metrics;
  releases: ReleaseList;
}

/** No image runs before `start`. Rejects as `createJobs`. */
export async function openJobs(parts: JobParts): Promise<Jobs> {
  const { config, version, store, detector, annotator, allowances, metrics, releases } = parts;
  const times = new PictureTimes(config.imageRoots);
  const jobs = await createJobs(store, {
    ...parts,
    ...config,
    volumePatienceMs: config.volumePatienceSeconds * 1_000,
    mostBytes: allowances.total('store'),
    annotate: (image, detections, keyId) => annotator.annotate(image, detections, keyId),
    removeCopies: (names) => annotator.remove(names),
    readTime: (path, root) => times.begin(path, root),
    reuse: {
      environment: JSON.stringify([version, config.rectangles, config.positions]),
      look: fileLooks(config.imageRoots),
    },
    onReused: reusedCounter(metrics),
  });
  // If the store is lost, nothing that jobs still do could be stored.
  releases.addDrain('jobs', (drainMs) => jobs.drain(store.lost() ? 0 : drainMs));
  releases.add('jobs', () => jobs.stop(0));
  addJobMetrics(metrics, { ...jobs, store, detector });
  return jobs;
}
