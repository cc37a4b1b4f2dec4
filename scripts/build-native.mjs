// Builds the addon with cmake-js. package.json names a Node-API version, so that cmake-js takes the headers of
// the node-api-headers package and downloads nothing.
//
//   node scripts/build-native.mjs [--tests] [--sanitize=address|thread]
//
// Environment, handed on to CMake where set: LATTICE_CUDA (AUTO, ON, OFF), TENSORRT_ROOT, CUDAToolkit_ROOT,
// CMAKE_CUDA_COMPILER (or CUDACXX), CMAKE_CUDA_ARCHITECTURES.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
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

/**
 * Leaves `build/Release/lattice.node`; with `sanitize`, `build/SANITIZER/Release/lattice.node` and the tests beside.
 * Rejects with the compiler's words. Builds only what changed.
 */
export async function buildNative({ tests = false, sanitize = '' } = {}) {
  const out = sanitize === '' ? 'build' : join('build', sanitize);
  const common = ['--out', out, '--log-level', 'warn'];
  await cmakeJs([
    'configure',
    ...common,
    `--CDLATTICE_BUILD_TESTS=${tests ? 'ON' : 'OFF'}`,
    `--CDLATTICE_SANITIZE=${sanitize}`,
    '--CDCMAKE_EXPORT_COMPILE_COMMANDS=ON',
    ...cudaDefinitions(process.env),
  ]);
  await cmakeJs(['build', ...common, '--parallel', String(availableParallelism())]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const sanitize = process.argv.find((arg) => arg.startsWith('--sanitize='))?.split('=')[1] ?? '';
  try {
    await buildNative({ tests: process.argv.includes('--tests'), sanitize });
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
