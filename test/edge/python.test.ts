/** The tests of `edge/lattice_edge`, with the notebooks' packages. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../../src/cli/python-environment.js';
import { PROJECT_ROOT } from '../support/service-process.js';
import { pythonWithoutRay } from '../../scripts/python-environment.mjs';
import { EDGE_PACKAGES } from './notebook.js';

test('edge/lattice_edge', async () => {
  const folder = join(PROJECT_ROOT, 'test/edge/checks');
  const output = await runProgram(
    await pythonWithoutRay(),
    ['-B', '-m', 'unittest', 'discover', '-v', '-s', folder],
    { ...process.env, PYTHONPATH: EDGE_PACKAGES },
  );
  expect(output).toMatch(/Ran [1-9]\d* tests? in/);
  expect(output).not.toContain('skipped');
});
