// The whole test run: static checks, native unit tests, then the TypeScript suite through the real addon.
// What a machine cannot run is named with the reason.
//
// The tests on Ray wait for most of their time, so what needs nothing but the processor is done beside them, in the
// time that they leave over. Tests never run beside each other's steps: some of them measure time.
import { spawn } from 'node:child_process';
import { ROOT } from './setup.mjs';

const RAY = ['Ray cluster tests', 'node', 'scripts/test-ray.mjs'];
const BESIDE_RAY = [
  ['format', 'npm', 'run', '--silent', 'format:check'],
  ['lint', 'npm', 'run', '--silent', 'lint'],
  ['layers', 'npm', 'run', '--silent', 'layers'],
  ['types', 'npm', 'run', '--silent', 'typecheck'],
  ['build of the native unit tests', 'node', 'scripts/test-native.mjs', '--build'],
  ['Python that quantises', 'node', 'scripts/python-environment.mjs'],
];
const AFTERWARDS = [
  ['native unit tests', 'node', 'scripts/test-native.mjs'],
  ['TypeScript tests', 'npx', 'vitest', 'run'],
];
/** A tenth of the time that others have; where the kernel shares it out by session, its session too. */
const YIELDING = ['sh', '-c', '2>&- echo 10 >/proc/self/autogroup; exec nice -n 10 "$@"', 'sh'];

const failed = [];
let rayRuns = true;
let yielding;

async function run([name, ...command]) {
  console.log(`\n== ${name}`);
  await finished(name, spawn(command[0], command.slice(1), { cwd: ROOT, stdio: 'inherit' }));
}

/** What it prints is shown once it has ended, in one piece. Without Ray beside it it yields to nobody. */
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
  // It leads a session of its own, which no Ctrl-C reaches.
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
