// The whole test run: static checks, native unit tests, then the TypeScript suite through the real addon.
// Prints at the end what the machine cannot run, with the reason.
//
// The tests on Ray mostly wait, so the steps that only compute run at the same time, two at once and at a low CPU
// share: builds, checks, and the tests of folders in which none holds a deadline.
import { spawn } from 'node:child_process';
import { ROOT } from './setup.mjs';

const RAY = ['Ray cluster tests', 'node', 'scripts/test-ray.mjs'];
/** Their tests hold deadlines that the product promises. */
const WITH_DEADLINES = ['browser', 'clusters', 'execution', 'service', 'webhooks'].map(
  (name) => `test/${name}/`,
);
/** Their files run in the same processes: two thirds of the time of such a file went into loading the same modules. */
const IN_SHARED_PROCESSES = [
  'aliases',
  'annotate',
  'api',
  'export',
  'http',
  'overlay',
  'settings',
  'stream',
  'ui',
].map((name) => `test/${name}/`);
/** It takes the CPUs for itself: beside it a deadline of another test would be missed. */
const BUSY_MACHINE = 'test/service/busy-machine.test.ts';
/** They wait for more than a minute, so they begin early: at the end nothing would run beside them. */
const LONG_WAITS = ['test/bench/chaos.test.ts', 'test/bench/watches.test.ts'];
// The other tests need the Python environment, which is ready long before they begin.
const BESIDE_RAY = [
  ['Python that quantises', 'node', 'scripts/python-environment.mjs'],
  ['tests that wait long', 'npx', 'vitest', 'run', ...LONG_WAITS],
  ['build of the native unit tests', 'node', 'scripts/test-native.mjs', '--build'],
  ['sources under the sanitizers', 'node', 'scripts/sanitized-sources.mjs'],
  ['lint', 'npm', 'run', '--silent', 'lint'],
  ['format', 'npm', 'run', '--silent', 'format:check'],
  ['layers', 'npm', 'run', '--silent', 'layers'],
  ['types', 'npm', 'run', '--silent', 'typecheck'],
  [
    'TypeScript tests in shared processes',
    ...['npx', 'vitest', 'run', '--no-isolate', ...IN_SHARED_PROCESSES],
  ],
  [
    'TypeScript tests without deadlines',
    ...['npx', 'vitest', 'run'],
    ...[
      ...[...WITH_DEADLINES, ...IN_SHARED_PROCESSES].map((path) => `${path}**`),
      ...LONG_WAITS,
    ].map((path) => `--exclude=${path}`),
  ],
];
const AFTERWARDS = [
  ['native unit tests', 'node', 'scripts/test-native.mjs'],
  [
    'TypeScript tests with deadlines',
    ...['npx', 'vitest', 'run', `--exclude=${BUSY_MACHINE}`, ...WITH_DEADLINES],
  ],
  ['test on a busy machine', 'npx', 'vitest', 'run', BUSY_MACHINE],
];
/** Lowers the CPU share to a tenth; if the kernel divides the CPU by session, that of the session too. */
const YIELDING = ['sh', '-c', '2>&- echo 10 >/proc/self/autogroup; exec nice -n 10 "$@"', 'sh'];

/** The last lines of the output of each failed step, by name. */
const failed = new Map();
const SHOWN_LINES = 100;
/** Tests that steps report as left out, each once. */
const leftOut = new Set();
let rayRuns = true;
const yielding = new Set();

/** Prints the output as it comes. */
async function run([name, program, ...args]) {
  console.log(`\n== ${name}`);
  const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  await finished(name, child, { atOnce: true });
}

/** Prints the output when the step has ended. Has a normal CPU share if the tests on Ray do not run. */
async function runYielding([name, ...command]) {
  const [program, ...args] = rayRuns ? [...YIELDING, ...command] : command;
  const stdio = ['ignore', 'pipe', 'pipe'];
  const child = spawn(program, args, { cwd: ROOT, stdio, detached: true });
  yielding.add(child);
  await finished(name, child, { atOnce: false });
  yielding.delete(child);
}

async function finished(name, child, { atOnce }) {
  const start = Date.now();
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      if (atOnce) process.stdout.write(text);
    });
  }
  const code = await new Promise((resolve) => {
    child.once('error', resolve);
    child.once('close', resolve);
  });
  output = output.trimEnd();
  for (const [line] of output.matchAll(/^Left out: .*$/gm)) leftOut.add(line);
  if (!atOnce) console.log(`\n== ${name}\n${output}`);
  const took = ((Date.now() - start) / 1000).toFixed(1);
  console.log(`== ${name}: ${code === 0 ? 'ok' : 'FAILED'} (${took} s)`);
  if (code !== 0) failed.set(name, output.split('\n').slice(-SHOWN_LINES).join('\n'));
}

async function inTurn(steps, work) {
  for (const step of steps) await work(step);
}

process.once('exit', () => {
  // Each leads a separate session, which Ctrl-C does not reach.
  for (const child of yielding) if (child.exitCode === null) process.kill(-child.pid);
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const ray = run(RAY).then(() => (rayRuns = false));
// One iterator: each of the two takes the next step.
const beside = BESIDE_RAY.values();
await Promise.all([ray, inTurn(beside, runYielding), inTurn(beside, runYielding)]);
await inTurn(AFTERWARDS, run);
console.log(['', ...leftOut].join('\n'));
if (failed.size > 0) {
  // Steps that failed early are far above by now.
  for (const [name, end] of failed)
    console.error(`\n== ${name}: FAILED, the end of its output:\n${end}`);
  console.error(`\nFailed: ${[...failed.keys()].join(', ')}`);
  process.exit(1);
}
