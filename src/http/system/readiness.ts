/** Whether traffic may come: what `/readyz` answers and `lattice_ready` shows. */
import { LatticeError } from '../../errors.js';
import type { AppDeps } from '../app-deps.js';

export type ReadinessDeps = Pick<AppDeps, 'draining' | 'detector' | 'jobsHealth'>;

/** Null when it may. Every reason is answered 503, whatever its own status: to a balancer they mean the same. */
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
