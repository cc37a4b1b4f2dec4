// Checks (or with --write fixes) the format of the C++ sources. Prints a line if clang-format is missing.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './setup.mjs';
import { whyLeftOut } from './system-packages.mjs';

// A checkout may have no git.
const files = ['native', 'bench/native', 'test/native'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true })
    .filter((file) => /\.(h|cc|cu)$/.test(file))
    .map((file) => join(folder, file)),
);
/** Others break lines elsewhere. */
const VERSION = 14;

const missing = whyLeftOut('clang-format');
const told = spawnSync('clang-format', ['--version'], { encoding: 'utf8' }).stdout ?? '';
const [, version] = /version (\d+)/.exec(told) ?? [];
if (missing !== null) {
  console.log(missing);
} else if (Number(version) !== VERSION) {
  console.log(
    `Left out: the check of the format of C++: it is that of clang-format ${VERSION}, and this is ${version}.`,
  );
} else {
  const mode = process.argv.includes('--write') ? ['-i'] : ['--dry-run', '--Werror'];
  const { status } = spawnSync('clang-format', [...mode, ...files], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
