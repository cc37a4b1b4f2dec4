// The tests on a real Ray of two nodes, in a network namespace that has only `lo`.
// Where that cannot be had they are left out and the reason is printed; with CI=true that is a failure.
import { spawnSync } from 'node:child_process';
import { rayPython } from './python-environment.mjs';
import { ROOT } from './setup.mjs';

// Without root a user namespace gives the right to make a network namespace.
const network = process.getuid?.() === 0 ? ['-n'] : ['-r', '-n'];
// Where permitted, one for processes as well: then nothing outlives the tests, however they end.
const processes = ['-p', '-f', '--mount-proc', '--kill-child'];

/** Options of unshare that work on this machine; throws with the reason when none do. */
function namespace() {
  let reason = '';
  for (const options of [[...network, ...processes], network]) {
    const probe = spawnSync('unshare', [...options, 'ip', 'link', 'set', 'lo', 'up'], {
      encoding: 'utf8',
    });
    if (probe.error) throw new Error(`unshare cannot be run: ${probe.error.message}`);
    if (probe.status === 0) return options;
    reason = probe.stderr.trim();
  }
  throw new Error(`no network namespace can be made here: ${reason}`);
}

let unshare;
let LATTICE_RAY_PYTHON;
try {
  unshare = namespace();
  LATTICE_RAY_PYTHON = rayPython();
} catch (error) {
  console.log(`Ray cluster tests left out: ${error.message}`);
  process.exit(process.env.CI === 'true' ? 1 : 0);
}
const vitest = [
  'npx',
  'vitest',
  'run',
  '--config',
  'vitest.ray.config.ts',
  ...process.argv.slice(2),
];
const { status } = spawnSync(
  'unshare',
  [...unshare, 'sh', '-c', 'ip link set lo up && "$@"', 'sh', ...vitest],
  { cwd: ROOT, stdio: 'inherit', env: { ...process.env, LATTICE_RAY_PYTHON } },
);
process.exit(status ?? 1);
