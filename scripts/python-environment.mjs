// Python for tests and demonstrations, beneath .deps; users bring their own.
import { pythonEnvironment } from '../dist/cli/python-environment.js';

const report = (line) => console.log(line);

/** Executes the notebooks that need no cluster. LATTICE_EDGE_PYTHON names another Python that can. */
export async function edgePython() {
  const files = ['edge/requirements-test.txt'];
  const own = process.env.LATTICE_EDGE_PYTHON;
  return own ?? (await pythonEnvironment({ name: 'edge', what: 'the notebooks', files }, report));
}

/** Runs Ray, and the notebooks on it (400 MB). LATTICE_RAY_PYTHON names another Python that can. */
export async function rayPython() {
  const files = ['cluster/requirements.txt', 'edge/requirements-test.txt'];
  const own = process.env.LATTICE_RAY_PYTHON;
  return own ?? (await pythonEnvironment({ name: 'ray', what: 'Ray', files }, report));
}
