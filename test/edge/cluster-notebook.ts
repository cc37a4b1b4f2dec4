/** `cluster.ipynb` against a running service and a running Ray cluster. */
import { expect } from 'vitest';
import { rayPython } from '../../scripts/python-environment.mjs';
import { executeNotebook, type Executed } from './notebook.js';

export interface EdgeAddresses {
  LATTICE_CORE_API_URL: string;
  LATTICE_RAY_ADDRESS: string;
  LATTICE_RAY_NAMESPACE?: string;
  LATTICE_API_KEY?: string;
}

/** Executes it and checks what it must show. `workers` are the names of those that must be listed. */
export async function checkClusterNotebook(
  addresses: EdgeAddresses,
  workers: readonly string[] = [],
): Promise<Executed> {
  const executed = await executeNotebook('cluster.ipynb', await rayPython(), { ...addresses });
  expect(executed.text).toContain(`Joined the Ray cluster at ${addresses.LATTICE_RAY_ADDRESS}`);
  expect(executed.text).toMatch(/The cluster runs Ray \S+ on Python \S+, this notebook has Ray/);
  expect(executed.text).toMatch(/^[0-9a-f]{12} +True/m);
  for (const name of workers) expect(executed.text).toMatch(new RegExp(`^${name} +running`, 'm'));
  expect(executed.text).toContain('32/32 images, completed');
  expect(executed.text).toMatch(/Counter\(\{'[0-9a-f]{12}': \d/);
  expect(executed.pictures).toHaveLength(2);
  return executed;
}
