// Checks (or with --write fixes) the format of the C++ sources. Prints a line if clang-format is missing.
import { spawnSync } from 'node:child_process';

const files = spawnSync(
  'git',
  ['ls-files', 'native', 'bench/native', 'test/native', '--', '*.h', '*.cc', '*.cu'],
  {
    encoding: 'utf8',
  },
)
  .stdout.split('\n')
  .filter((file) => /\.(h|cc|cu)$/.test(file));
if (spawnSync('clang-format', ['--version']).status !== 0) {
  console.log('C++ format not checked: clang-format is missing (apt-get install -y clang-format).');
} else if (files.length > 0) {
  const mode = process.argv.includes('--write') ? ['-i'] : ['--dry-run', '--Werror'];
  const { status } = spawnSync('clang-format', [...mode, ...files], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
