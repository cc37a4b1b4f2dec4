// Python for tests and demonstrations, in .deps; users install their own.
//
//   node scripts/python-environment.mjs    prepares the one that quantises models, for later tests
import { fileURLToPath } from 'node:url';
import { madePython, pythonEnvironment } from '../dist/cli/python-environment.js';

const NOTEBOOKS = 'edge/requirements-test.txt';
const EDGE = { name: 'edge', what: 'the notebooks', files: [NOTEBOOKS] };
const RAY = {
  name: 'ray',
  what: 'Ray',
  files: ['cluster/requirements.txt', 'cluster/examples/requirements.txt', NOTEBOOKS],
};

const report = (line) => console.log(line);

/** Executes the notebooks that need no cluster. LATTICE_EDGE_PYTHON names another Python that can. */
export async function edgePython() {
  const own = process.env.LATTICE_EDGE_PYTHON;
  return own ?? madePython(RAY) ?? (await pythonEnvironment(EDGE, report));
}

/** Has what the notebooks need and no Ray: the checks of `lattice_edge` say what is missing. */
export async function pythonWithoutRay() {
  return await pythonEnvironment(EDGE, report);
}

/** Runs Ray, its examples and the notebooks on it (900 MB). LATTICE_RAY_PYTHON names another Python that can. */
export async function rayPython() {
  return process.env.LATTICE_RAY_PYTHON ?? (await pythonEnvironment(RAY, report));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { quantizePython } = await import('../dist/cli/model/quantizing.js');
  await quantizePython(report);
}
