// The tests on a real Ray of two nodes, in a network namespace that has only `lo`.
// Without such a namespace they are left out and the reason is printed; with CI=true that is a failure.
import { spawnSync } from 'node:child_process';
import { isolated } from './network-namespace.mjs';
import { rayPython } from './python-environment.mjs';
import { ROOT } from './setup.mjs';

const vitest = ['npx', 'vitest', 'run', '--config', 'vitest.ray.config.ts'];
let command;
let LATTICE_RAY_PYTHON;
try {
  command = isolated([...vitest, ...process.argv.slice(2)]);
  LATTICE_RAY_PYTHON = await rayPython();
} catch (error) {
  console.log(`Left out: the tests on Ray: ${error.message}`);
  process.exit(process.env.CI === 'true' ? 1 : 0);
}
const [program, ...args] = command;
const { status } = spawnSync(program, args, {
  cwd: ROOT,
  stdio: 'inherit',
  env: { ...process.env, LATTICE_RAY_PYTHON },
});
process.exit(status ?? 1);
