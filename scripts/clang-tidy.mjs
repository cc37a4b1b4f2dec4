// Lock contracts, then clang-tidy over native/ with the checks of .clang-tidy; `npm run tidy -- engine` checks only
// paths with that word.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { ROOT } from './setup.mjs';
import { checkThreadSafety } from './thread-safety.mjs';

const word = process.argv[2] ?? '';
const listed = spawnSync('git', ['ls-files', 'native'], { cwd: ROOT, encoding: 'utf8' });
const files = listed.stdout
  .split('\n')
  .filter((file) => file.endsWith('.cc') && file.includes(word));
if (spawnSync('clang-tidy', ['--version']).status !== 0) {
  console.log('clang-tidy is missing (apt-get install -y clang-tidy).');
  process.exitCode = 1;
} else if (!existsSync(`${ROOT}build/compile_commands.json`)) {
  console.log('build/compile_commands.json is missing: run npm run setup first.');
  process.exitCode = 1;
} else {
  const { status } = spawnSync('clang-tidy', ['-p', 'build', '--quiet', ...files], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  process.exitCode = checkThreadSafety() || (status ?? 1);
}
