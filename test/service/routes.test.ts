/** The routes, with images run by the service itself. */
import { routeConformance } from '../support/route-conformance.js';
import { FEW_THREADS } from '../support/service-client.js';
import { startService } from '../support/service-process.js';
import { worker } from '../support/wire-shapes.js';

routeConformance({
  open: (imageRoots) => startService({ env: { ...FEW_THREADS, LATTICE_IMAGE_ROOTS: imageRoots } }),
  nodes: 1,
  workers: 1,
  workerId: worker,
});
