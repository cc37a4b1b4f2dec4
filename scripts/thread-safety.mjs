// Lets clang check the lock contracts of native/base/mutex.h: which mutex guards which data, which one a function
// needs. Prints the reason if clang or the build is missing.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { ROOT } from './setup.mjs';

/** Folders whose code uses that header. */
const FOLDERS = /\/native\/(addon|scheduler)\//;
const COMMANDS = `${ROOT}build/compile_commands.json`;

/** Exit code; prints what clang found. */
export function checkThreadSafety() {
  if (spawnSync('clang++', ['--version']).status !== 0) {
    console.log('Lock contracts are not checked: clang is missing (apt-get install -y clang).');
    return 0;
  }
  if (!existsSync(COMMANDS)) {
    console.log('Lock contracts are not checked: run npm run setup first.');
    return 0;
  }
  const sources = JSON.parse(readFileSync(COMMANDS, 'utf8')).filter(
    ({ file }) => FOLDERS.test(file) && !file.includes('/test/'),
  );
  const failed = sources.filter(({ command, directory, file }) => {
    const kept = command.match(/(?:-I|-isystem |-D|-std=)\S+/g) ?? [];
    const checks = ['-fsyntax-only', '-Wno-everything', '-Wthread-safety', '-Werror'];
    const flags = kept.flatMap((flag) => flag.replaceAll('\\', '').split(' '));
    const { status } = spawnSync('clang++', [...checks, ...flags, file], {
      cwd: directory,
      stdio: 'inherit',
    });
    return status !== 0;
  });
  console.log(`Lock contracts: ${sources.length - failed.length} of ${sources.length} files hold.`);
  return failed.length === 0 ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = checkThreadSafety();
}
