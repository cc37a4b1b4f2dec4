// The whole test run: static checks, native unit tests, then the TypeScript suite through the real addon.
// Prints the steps that the machine cannot run, with the reason.
//
// The tests on Ray mostly wait, so the steps that only compute run at the same time, at a low CPU share: builds, checks,
// and the tests of folders in which none measures time.
import { spawn } from 'node:child_process';
import { ROOT } from './setup.mjs';

const RAY = ['Ray cluster tests', 'node', 'scripts/test-ray.mjs'];
const UNTIMED = ['bench', 'cli', 'clients', 'deploy', 'edge', 'models', 'ui'].map(
  (name) => `test/${name}/`,
);
const BESIDE_RAY = [
  ['format', 'npm', 'run', '--silent', 'format:check'],
  ['lint', 'npm', 'run', '--silent', 'lint'],
  ['layers', 'npm', 'run', '--silent', 'layers'],
  ['types', 'npm', 'run', '--silent', 'typecheck'],
  ['build of the native unit tests', 'node', 'scripts/test-native.mjs', '--build'],
  ['Python that quantises', 'node', 'scripts/python-environment.mjs'],
  ['TypeScript tests without times', 'npx', 'vitest', 'run', ...UNTIMED],
];
const AFTERWARDS = [
  ['native unit tests', 'node', 'scripts/test-native.mjs'],
  ['TypeScript tests', 'npx', 'vitest', 'run', ...UNTIMED.map((path) => `--exclude=${path}**`)],
];
/** Lowers the CPU share to a tenth; if the kernel divides the CPU by session, that of the session too. */
const YIELDING = ['sh', '-c', '2>&- echo 10 >/proc/self/autogroup; exec nice -n 10 "$@"', 'sh'];

const failed = [];
let rayRuns = true;
let yielding;

async function run([name, ...command]) {
  console.log(`\n== ${name}`);
  await finished(name, spawn(command[0], command.slice(1), { cwd: ROOT, stdio: 'inherit' }));
}

/** Prints the output when the step has ended. Has a normal CPU share if the tests on Ray do not run. */
async function runYielding([name, ...command]) {
  const [program, ...args] = rayRuns ? [...YIELDING, ...command] : command;
  yielding = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  for (const stream of [yielding.stdout, yielding.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  }
  await finished(name, yielding, () => console.log(`\n== ${name}\n${output.trimEnd()}`));
  yielding = undefined;
}

async function finished(name, child, show = () => undefined) {
  const start = Date.now();
  const code = await new Promise((resolve) => {
    child.once('error', resolve);
    child.once('close', resolve);
  });
  show();
  const took = ((Date.now() - start) / 1000).toFixed(1);
  console.log(`== ${name}: ${code === 0 ? 'ok' : 'FAILED'} (${took} s)`);
  if (code !== 0) failed.push(name);
}

async function inTurn(steps, work) {
  for (const step of steps) await work(step);
}

process.once('exit', () => {
  // It leads a separate session, which Ctrl-C does not reach.
  if (yielding?.exitCode === null) process.kill(-yielding.pid);
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const ray = run(RAY).then(() => (rayRuns = false));
await Promise.all([ray, inTurn(BESIDE_RAY, runYielding)]);
await inTurn(AFTERWARDS, run);
if (failed.length > 0) {
  console.error(`\nFailed: ${failed.join(', ')}`);
  process.exit(1);
}
