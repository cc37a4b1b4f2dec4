// Builds and runs the GoogleTest suite of native/. Names what is missing where it cannot.
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
  await buildNative({ tests: true });
  const { status } = spawnSync('ctest', ['--test-dir', 'build', '--output-on-failure', '-j', '2'], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
