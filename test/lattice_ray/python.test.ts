/** The tests of the Python code beneath `cluster/` that need no Ray. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../../src/cli/python-environment.js';
import { PACKAGE_ROOT } from '../../src/base/package.js';

test('cluster/lattice_ray', async () => {
  const folder = join(PACKAGE_ROOT, 'test/lattice_ray');
  const output = await runProgram(
    'python3',
    ['-B', '-m', 'unittest', 'discover', '-v', '-s', folder],
    { ...process.env, PYTHONPATH: join(PACKAGE_ROOT, 'cluster') },
  );
  expect(output).toMatch(/Ran [1-9]\d* tests? in/);
  expect(output).not.toContain('skipped');
});
