// Builds and runs the GoogleTest suite of native/. Prints what is missing if it cannot.
//
//   node scripts/test-native.mjs [--build | --gpu | --simulated-gpu]
//
// --build runs nothing, --gpu only what needs a GPU, --simulated-gpu everything, on GPUs that are simulated on the
// host.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildNative, isPrebuilt } from './build-native.mjs';
import { ROOT } from './setup.mjs';
import { whyLeftOut } from './system-packages.mjs';

const NEEDS_GPU = '^gpu\\.|/gpu|\\.Gpu';
if (isPrebuilt()) {
  const chosen = process.argv.includes('--gpu') ? new RegExp(NEEDS_GPU) : /./;
  process.exitCode = runPrebuiltTests(chosen);
} else if (whyLeftOut('libgtest-dev') !== null) {
  console.log(whyLeftOut('libgtest-dev'));
} else {
  const simulatedGpu = process.argv.includes('--simulated-gpu');
  for (const line of await buildNative({ tests: true, simulatedGpu })) console.log(line);
  if (!process.argv.includes('--build')) process.exitCode = runTests(simulatedGpu);
}

/** Exit code. */
function runTests(simulatedGpu) {
  const folder = simulatedGpu ? 'build/simulated-gpu' : 'build';
  const tests = ['--test-dir', folder, '--output-on-failure', '-j', '2'];
  // GPUs are shared: one test at a time.
  const chosen = process.argv.includes('--gpu') ? ['-R', NEEDS_GPU, '-j', '1', '-V'] : [];
  const { status } = spawnSync('ctest', [...tests, ...chosen], { cwd: ROOT, stdio: 'inherit' });
  return simulatedGpu && status === 0 ? runServiceTests() : (status ?? 1);
}

/** Tests of the service on simulated GPUs. Exit code. */
function runServiceTests() {
  const vitest = ['vitest', 'run', '--config', 'vitest.simulated-gpu.config.ts'];
  return spawnSync('npx', vitest, { cwd: ROOT, stdio: 'inherit' }).status ?? 1;
}

/** Where nothing is built there is no CTest either. As with it: one test per process, with a time limit. Exit code. */
function runPrebuiltTests(chosen) {
  const folder = join(ROOT, 'build', 'test', 'native');
  const programs = readdirSync(folder, { recursive: true }).filter((file) =>
    /^lattice_\w+_test$/.test(basename(file)),
  );
  const tests = programs.sort().flatMap((file) => testsOf(join(folder, file)));
  const failed = tests.filter(({ name }) => chosen.test(name)).filter((test) => !passes(test));
  for (const { name } of failed) console.log(`FAILED: ${name}`);
  return failed.length > 0 ? 1 : 0;
}

/** The tests of a GoogleTest program, named as CTest names them. */
function testsOf(program) {
  const { status, stdout, stderr } = spawnSync(program, ['--gtest_list_tests'], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${program} does not start: ${stderr}`);
  const label = basename(program).slice('lattice_'.length, -'_test'.length);
  const tests = [];
  let suite = '';
  for (const line of stdout.split('\n')) {
    const [, indent, name] = /^( *)([^\s#]+)(?: +#.*)?$/.exec(line) ?? [];
    if (indent === '') suite = name;
    else if (indent)
      tests.push({ program, filter: suite + name, name: `${label}.${suite}${name}` });
  }
  return tests;
}

function passes({ program, filter }) {
  const options = { cwd: ROOT, stdio: 'inherit', timeout: 120_000, killSignal: 'SIGKILL' };
  return spawnSync(program, [`--gtest_filter=${filter}`], options).status === 0;
}
