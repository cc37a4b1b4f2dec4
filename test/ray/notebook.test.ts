/** `cluster.ipynb` in the Ray test step, which says where its service and its cluster are. */
import { expect, test } from 'vitest';
import { checkClusterNotebook } from '../edge/cluster-notebook.js';

const { LATTICE_CORE_API_URL, LATTICE_RAY_ADDRESS, LATTICE_RAY_NAMESPACE } = process.env;
const addresses =
  LATTICE_CORE_API_URL !== undefined && LATTICE_RAY_ADDRESS !== undefined
    ? { LATTICE_CORE_API_URL, LATTICE_RAY_ADDRESS }
    : null;
if (addresses === null) {
  console.log(
    'cluster.ipynb is not executed: LATTICE_CORE_API_URL and LATTICE_RAY_ADDRESS are not set.',
  );
}

test.skipIf(addresses === null)(
  'cluster.ipynb runs from top to bottom',
  { timeout: 10 * 60_000 },
  async () => {
    const namespace = LATTICE_RAY_NAMESPACE === undefined ? {} : { LATTICE_RAY_NAMESPACE };
    const executed = await checkClusterNotebook({ ...addresses!, ...namespace });
    console.log(`executed notebook: ${executed.path}`);
    expect(executed.text).toContain('worker');
  },
);
