// Builds and runs the GoogleTest suite of native/. Prints what is missing if it cannot.
//
//   node scripts/test-native.mjs [--build | --gpu | --simulated-gpu]
//
// --build runs nothing, --gpu only what needs a GPU, --simulated-gpu everything, on GPUs that are simulated on the host.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { buildNative } from './build-native.mjs';
import { ROOT } from './setup.mjs';

const found = ['/usr/include/gtest/gtest.h', '/usr/local/include/gtest/gtest.h'].some(existsSync);
if (!found && process.env.GTest_ROOT === undefined) {
  console.log(
    'Native unit tests left out: GoogleTest is missing (apt-get install -y libgtest-dev).',
  );
} else {
  const simulatedGpu = process.argv.includes('--simulated-gpu');
  for (const line of await buildNative({ tests: true, simulatedGpu })) console.log(line);
  if (!process.argv.includes('--build')) process.exitCode = runTests(simulatedGpu);
}

/** Exit code. */
function runTests(simulatedGpu) {
  const folder = simulatedGpu ? 'build/simulated-gpu' : 'build';
  const tests = ['--test-dir', folder, '--output-on-failure', '-j', '2'];
  // As in vitest.config.ts: a test can miss a deadline on two busy cores.
  if (process.env.CI) tests.push('--repeat', 'until-pass:2');
  // GPUs are shared: one test at a time.
  const chosen = process.argv.includes('--gpu')
    ? ['-R', '^gpu\\.|/gpu|\\.Gpu', '-j', '1', '-V']
    : [];
  const { status } = spawnSync('ctest', [...tests, ...chosen], { cwd: ROOT, stdio: 'inherit' });
  return status ?? 1;
}
