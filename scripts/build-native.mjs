// Builds the addon with cmake-js. package.json names a Node-API version, so that cmake-js takes the headers of
// the node-api-headers package and downloads nothing.
//
//   node scripts/build-native.mjs [--tests] [--bench] [--sanitize=address|thread] [--simulated-gpu]
//
// --bench adds the program of the GPU benchmark (bench/native), where CUDA is found; --tests does so too.
// --simulated-gpu simulates CUDA and TensorRT on the host (docs/gpu.md, "Without a GPU"); it needs CUDA and TensorRT's
// headers, as a build for GPUs does.
//
// Environment variables for CMake, passed on if set: LATTICE_CUDA (AUTO, ON, OFF), TENSORRT_ROOT, CUDAToolkit_ROOT,
// CMAKE_CUDA_COMPILER (or CUDACXX), CMAKE_CUDA_ARCHITECTURES.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CMAKE_JS = join(ROOT, 'node_modules', 'cmake-js', 'bin', 'cmake-js');

const FROM_ENVIRONMENT = [
  'LATTICE_CUDA',
  'TENSORRT_ROOT',
  'CUDAToolkit_ROOT',
  'CMAKE_CUDA_COMPILER',
  'CMAKE_CUDA_ARCHITECTURES',
];

function cudaDefinitions(env) {
  const set = { ...env, CMAKE_CUDA_COMPILER: env.CMAKE_CUDA_COMPILER ?? env.CUDACXX };
  return FROM_ENVIRONMENT.filter((name) => (set[name] ?? '') !== '').map(
    (name) => `--CD${name}=${set[name]}`,
  );
}

function cmakeJs(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CMAKE_JS, ...args], { cwd: ROOT });
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    child.stderr.on('data', (chunk) => (output += String(chunk)));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve(output);
      else reject(new Error(`The native build failed (${code ?? signal}):\n${output}`));
    });
  });
}

/** Whether this is a copy that scripts/pack-gpu-check.sh built elsewhere: it is used as it is, without a compiler. */
export const isPrebuilt = () => existsSync(join(ROOT, 'build', 'prebuilt'));

const OPTIONAL_PLACES = [
  '/usr/local/cuda/bin/nvcc',
  '/usr/bin/nvcc',
  ...['x86_64-linux-gnu/', 'aarch64-linux-gnu/', ''].flatMap((folder) =>
    ['NvInfer.h', 'NvOnnxParser.h', 'turbojpeg.h'].map((name) => `/usr/include/${folder}${name}`),
  ),
];

/** Optional parts that a build would find on this machine; when they change, the addon is built again. */
export function optionalParts() {
  return [...cudaDefinitions(process.env), ...OPTIONAL_PLACES.filter(existsSync)];
}

/** CMake refuses a cache that was made in another folder: in a checkout that was copied or moved with its build. */
function forgetOtherCheckout(folder) {
  const cache = join(folder, 'CMakeCache.txt');
  if (!existsSync(cache)) return;
  const [, madeFor] =
    /^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$/m.exec(readFileSync(cache, 'utf8')) ?? [];
  if (madeFor !== undefined && relative(madeFor, ROOT) === '') return;
  rmSync(cache);
  rmSync(join(folder, 'CMakeFiles'), { recursive: true, force: true });
}

/**
 * Leaves `build/Release/lattice.node`; with `sanitize`, `build/SANITIZER/Release/lattice.node` and the tests beside,
 * with `simulatedGpu` likewise in `build/simulated-gpu`.
 * Rejects with the output of the compiler. Builds only what changed. Resolves with one line per optional part: what was
 * built in, or why it was left out.
 */
export async function buildNative({
  tests = false,
  bench = false,
  sanitize = '',
  simulatedGpu = false,
} = {}) {
  if (isPrebuilt()) return ['built on another machine (build/prebuilt): nothing is built here'];
  const out = join('build', sanitize, simulatedGpu ? 'simulated-gpu' : '');
  forgetOtherCheckout(join(ROOT, out));
  const common = ['--out', out, '--log-level', 'warn'];
  const configured = await cmakeJs([
    'configure',
    ...common,
    `--CDLATTICE_BUILD_TESTS=${tests ? 'ON' : 'OFF'}`,
    `--CDLATTICE_SANITIZE=${sanitize}`,
    `--CDLATTICE_SIMULATED_GPU=${simulatedGpu ? 'ON' : 'OFF'}`,
    ...(simulatedGpu ? ['--CDLATTICE_CUDA=ON'] : []),
    '--CDCMAKE_EXPORT_COMPILE_COMMANDS=ON',
    ...cudaDefinitions(process.env),
  ]);
  const build = ['build', ...common, '--parallel', String(availableParallelism())];
  await cmakeJs(build);
  const parts = [...configured.matchAll(/^-- ((?:CUDA|nvJPEG|JPEG): .*)$/gm)].map(
    ([, line]) => line,
  );
  const hasCuda = parts.some((line) => /^CUDA: (?!left out)/.test(line));
  if (bench && hasCuda) await cmakeJs([...build, '--target', 'lattice_gpu_bench']);
  return parts;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const sanitize = process.argv.find((arg) => arg.startsWith('--sanitize='))?.split('=')[1] ?? '';
  try {
    const parts = await buildNative({
      tests: process.argv.includes('--tests'),
      bench: process.argv.includes('--bench'),
      sanitize,
      simulatedGpu: process.argv.includes('--simulated-gpu'),
    });
    for (const line of parts) console.log(line);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
