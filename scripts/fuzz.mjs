// Fuzzes the parsers of the C++ core: runs the targets of test/native/fuzz one after the other.
//
//   npm run fuzz [-- SECONDS [TARGET]]       60 seconds each
//
// build/fuzz/corpus keeps the corpus, build/fuzz/findings the inputs that break a target.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run } from './setup.mjs';

const BUILD = join(ROOT, 'build', 'fuzz');
const FINDINGS = join(BUILD, 'findings/');
const TARGETS = ['header', 'decode', 'model', 'python_literal'];
const PICTURES = ['models/demo', '../shared/testdata/odd', '../shared/testdata/images'];
const MAX_BYTES = 32 * 1024;

/** The first clang that can link a target. */
function findClang() {
  const versions = [20, 19, 18, 17, 16, 15, 14].map((version) => `clang++-${version}`);
  const input = 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }';
  const options = ['-xc++', '-', '-fsanitize=fuzzer,address,undefined', '-o', '/dev/null'];
  const links = (name) => spawnSync(name, options, { input }).status === 0;
  return ['clang++', ...versions].find(links);
}

function build(clang) {
  const options = ['FUZZ=ON', 'SANITIZE=address', 'CUDA=OFF'].map((each) => `-DLATTICE_${each}`);
  run('cmake', ['-S', ROOT, '-B', BUILD, `-DCMAKE_CXX_COMPILER=${clang}`, ...options]);
  console.log(`Building with ${clang} ...`);
  run('cmake', ['--build', BUILD, '--target', 'fuzz', '--parallel', '2']);
}

function addPictures(corpus) {
  for (const folder of PICTURES.map((path) => join(ROOT, path)).filter(existsSync)) {
    for (const name of readdirSync(folder)) {
      const file = join(folder, name);
      if (statSync(file).size <= MAX_BYTES) copyFileSync(file, join(corpus, name));
    }
  }
}

/** Whether the target found no fault. */
function fuzz(target, seconds) {
  const corpus = join(BUILD, 'corpus', target);
  mkdirSync(corpus, { recursive: true });
  if (['header', 'decode'].includes(target)) addPictures(corpus);
  const limits = [`-max_total_time=${seconds}`, `-max_len=${MAX_BYTES}`, '-timeout=5'];
  const output = [`-artifact_prefix=${FINDINGS}${target}-`, '-print_final_stats=1'];
  const log = join(BUILD, `${target}.log`);
  console.log(`${target}: ${seconds} s, ${log}`);
  const program = join(BUILD, `test/native/fuzz/lattice_${target}_fuzz`);
  const stdio = ['ignore', 'ignore', openSync(log, 'w')];
  return spawnSync(program, [corpus, ...limits, ...output], { stdio }).status === 0;
}

const [seconds = '60', only] = process.argv.slice(2);
const clang = findClang();
const chosen = TARGETS.filter((target) => target === (only ?? target));
if (clang === undefined) {
  console.log('clang with libFuzzer is missing (apt-get install -y clang-14 libclang-rt-14-dev).');
  process.exitCode = 1;
} else if (chosen.length === 0) {
  console.log(`The targets are ${TARGETS.join(', ')}.`);
  process.exitCode = 1;
} else {
  build(clang);
  mkdirSync(FINDINGS, { recursive: true });
  const broken = chosen.filter((target) => !fuzz(target, seconds));
  for (const target of broken) console.log(`${target} failed: its input lies in ${FINDINGS}`);
  if (broken.length > 0) process.exitCode = 1;
}
