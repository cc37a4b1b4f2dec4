/** Readiness for traffic, for `/readyz` and the metric `lattice_ready`. */
import { LatticeError } from '../../api/errors.js';
import type { AppDeps } from '../app-deps.js';

export type ReadinessDeps = Pick<AppDeps, 'draining' | 'detector' | 'jobsHealth'>;

/** Null when ready. Every fault is answered 503, whatever its own status: a load balancer treats them alike. */
export async function readinessFault(deps: ReadinessDeps): Promise<LatticeError | null> {
  if (deps.draining()) return new LatticeError('shutting_down', 'The service is stopping.');
  const fault = deps.detector.unhealthy();
  if (fault !== null) {
    return new LatticeError('model_not_ready', `Detector: ${fault.message}`, { cause: fault });
  }
  const storeFault = await deps.jobsHealth();
  if (storeFault === null) return null;
  return new LatticeError('storage_unavailable', storeFault.message, { cause: storeFault });
}
