/** The tests of `edge/lattice_edge`: the checks with any Python 3, drawing with the notebooks' packages. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../../src/cli/python-environment.js';
import { PROJECT_ROOT } from '../support/service-process.js';
import { edgePython } from '../../scripts/python-environment.mjs';

test.each([
  ['checks', () => Promise.resolve('python3')],
  ['drawing', () => edgePython()],
])('edge/lattice_edge: %s', { timeout: 300_000 }, async (part, python) => {
  const folder = join(PROJECT_ROOT, 'test/edge', part);
  const output = await runProgram(
    await python(),
    ['-B', '-m', 'unittest', 'discover', '-v', '-s', folder],
    { ...process.env, PYTHONPATH: join(PROJECT_ROOT, 'edge') },
  );
  expect(output).toMatch(/Ran [1-9]\d* tests? in/);
  expect(output).not.toContain('skipped');
});
