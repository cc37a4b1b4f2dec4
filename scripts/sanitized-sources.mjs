// Whether the compiler takes every source of native/ as a sanitized build gives it: the sanitizers make it see, and
// warn of, other expressions than a plain build does. Makes no code, which would take four times as long.
//
//   node scripts/sanitized-sources.mjs
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isPrebuilt } from './build-native.mjs';
import { ROOT } from './setup.mjs';

const BUILD = join(ROOT, 'build', 'sanitized-sources');
const run = promisify(execFile);

/** The compiler's commands, one per folder of native/ as for a plain build. */
async function commands() {
  const definitions = [
    'LATTICE_SANITIZE=address',
    'LATTICE_JOINED_SOURCES=ON',
    'CMAKE_EXPORT_COMPILE_COMMANDS=ON',
  ];
  await run('cmake', ['-S', ROOT, '-B', BUILD, ...definitions.map((each) => `-D${each}`)]);
  return JSON.parse(readFileSync(join(BUILD, 'compile_commands.json'), 'utf8'));
}

/** The compiler's words; empty where it takes the source. */
async function faultOf({ command, directory }) {
  const [program, ...words] = command.split(/\s+/);
  const output = words.indexOf('-o');
  const checked = words.toSpliced(output, 2).concat('-fsyntax-only');
  return run(program, checked, { cwd: directory }).then(
    () => '',
    ({ stderr, message }) => stderr || message,
  );
}

if (isPrebuilt()) {
  console.log('Sources under the sanitizers left out: nothing is compiled here (build/prebuilt).');
} else {
  const left = (await commands()).values();
  const faults = [];
  const work = async () => {
    for (const each of left) faults.push(await faultOf(each));
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  console.log(faults.filter((fault) => fault !== '').join('\n') || `${faults.length} folders: ok`);
  if (faults.some((fault) => fault !== '')) process.exitCode = 1;
}
