/** Whether the service keeps up with its work. */
import { availableParallelism, loadavg } from 'node:os';
import { serviceState, type ServiceState } from '../api/schemas/service-state.js';
import { CpuWaitRatio } from '../base/own-time.js';
import type { ReleaseList } from '../base/releases.js';
import type { Detector } from '../execution/detector.js';
import type { Metrics } from '../metrics/metrics.js';

export interface LoadParts {
  detector: Pick<Detector, 'stats'>;
  metrics: Metrics;
  releases: ReleaseList;
}

/** Returns the state for a number of images that wait. */
export function openServiceLoad(parts: LoadParts): (waiting: number) => ServiceState {
  const { detector, metrics, releases } = parts;
  const cpuWait = new CpuWaitRatio();
  metrics.figures({
    name: 'lattice_cpu_wait_ratio',
    help: 'Of the time in which the event loop wanted a CPU, the share of the last 10 s in which it had none, 0 to 1.',
    read: () => cpuWait.value,
  });
  releases.add('CPU wait', () => {
    cpuWait.stop();
  });
  return (waiting) =>
    serviceState({
      cpuWaitRatio: cpuWait.value,
      load: loadavg()[0] ?? 0,
      cpus: availableParallelism(),
      hangingFolders: detector.stats().hangingFolders,
      waiting,
    });
}
