// Everything a fresh clone needs: npm packages, OpenVINO, the addon, the compiled TypeScript.
// Each step is skipped when its inputs have not changed, so a new run continues where an interrupted one stopped.
// Uses Node's own modules only: it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { installPackages } from './system-packages.mjs';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
const STAMPS = join(ROOT, '.deps', 'stamps');

/** Runs a command in the project's folder; its output is shown only when it fails. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8', ...options });
  if (result.error) throw new Error(`${command}: ${result.error.message}`);
  if (result.status !== 0) {
    throw new Error(
      `${command} ${args.join(' ')} failed (${result.status ?? result.signal}):\n` +
        `${result.stdout ?? ''}${result.stderr ?? ''}`,
    );
  }
  return result.stdout ?? '';
}

/** Digest of files and folders (recursively, names and contents). */
function digest(paths) {
  const hash = createHash('sha256');
  const visit = (path) => {
    const full = join(ROOT, path);
    if (!existsSync(full)) return;
    const entries = readdirSync(dirname(full), { withFileTypes: true });
    const entry = entries.find((each) => join(dirname(full), each.name) === full);
    if (entry?.isDirectory()) {
      for (const name of readdirSync(full).sort()) visit(join(path, name));
    } else {
      hash.update(path).update(readFileSync(full));
    }
  };
  hash.update(process.version).update(process.arch);
  for (const path of paths) visit(path);
  return hash.digest('hex');
}

function stampOf({ name }) {
  return join(STAMPS, name.replace(/\W+/g, '-'));
}

function stateOf({ inputs, facts = [] }) {
  return createHash('sha256')
    .update([digest(inputs), ...facts].join('\n'))
    .digest('hex');
}

function isDone(step, state = stateOf(step)) {
  const stamp = stampOf(step);
  return (
    existsSync(join(ROOT, step.output)) &&
    existsSync(stamp) &&
    readFileSync(stamp, 'utf8') === state
  );
}

const tellDone = ({ name }) => console.log(`  ${name}: up to date`);

async function bringUpToDate(step) {
  const state = stateOf(step);
  if (isDone(step, state)) return tellDone(step);
  const start = Date.now();
  process.stdout.write(`  ${step.name} ... `);
  let notes;
  try {
    notes = await step.work();
  } catch (error) {
    console.log('failed');
    throw error;
  }
  mkdirSync(STAMPS, { recursive: true });
  writeFileSync(stampOf(step), state);
  console.log(`done (${((Date.now() - start) / 1000).toFixed(1)} s)`);
  if (Array.isArray(notes)) for (const note of notes) console.log(`    ${note}`);
}

/** Two set-ups at once would overwrite each other's half-written files: the second one waits. */
async function alone(work) {
  const lock = join(ROOT, '.deps', 'setup.pid');
  const own = `${lock}.${process.pid}`;
  try {
    mkdirSync(dirname(lock), { recursive: true });
    writeFileSync(own, String(process.pid));
  } catch (error) {
    throw new Error(
      `This user cannot write to ${ROOT} (${error.code}): run npm run setup as a user who can.`,
      { cause: error },
    );
  }
  for (let told = false; ;) {
    try {
      linkSync(own, lock); // atomic: the file never appears without its content
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (!isAlive(Number(readFileSync(lock, 'utf8')))) {
      rmSync(lock, { force: true });
      continue;
    }
    if (!told) console.log('Another set-up is running; waiting for it.');
    told = true;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  try {
    await work();
  } finally {
    rmSync(lock, { force: true });
    rmSync(own, { force: true });
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return pid > 0;
  } catch {
    return false;
  }
}

const module = (file) => import(pathToFileURL(join(ROOT, 'scripts', file)).href);

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 20)) {
    throw new Error(
      `Node.js ${process.version} is too old: install 20.20 or newer (https://nodejs.org).`,
    );
  }
}

/** `tests`: also what the tests need of the system. */
export async function setup({ tests = false } = {}) {
  if ((await module('build-native.mjs')).isPrebuilt()) {
    console.log('Set-up: this copy was built on another machine (build/prebuilt)');
    return;
  }
  console.log('Set-up');
  checkNode();
  const isComplete = (await steps()).every((step) => isDone(step));
  // A complete set-up asks the system for nothing: the user of the service need not be able to build it.
  if (tests || !isComplete) installPackages(tests ? ['set-up', 'tests'] : ['set-up']);
  const all = await steps();
  const work = async () => {
    for (const step of all) await bringUpToDate(step);
  };
  // With nothing to do it writes nothing: the user of the service need not own the project.
  if (all.every((step) => isDone(step))) all.forEach(tellDone);
  else await alone(work);
}

/** Compares with npm's list of the packages in node_modules, which may have been copied here without our stamp. */
function hasPackages() {
  const listed = (file) => JSON.parse(readFileSync(join(ROOT, file), 'utf8')).packages;
  const isForHere = ({ os, cpu, libc }) =>
    os?.includes(process.platform) && cpu?.includes(process.arch) && !libc?.includes('musl');
  try {
    const there = listed('node_modules/.package-lock.json');
    return Object.entries(listed('package-lock.json')).every(([path, wants]) =>
      there[path] === undefined
        ? path === '' || (wants.optional && !isForHere(wants))
        : there[path].version === wants.version && there[path].integrity === wants.integrity,
    );
  } catch {
    return false;
  }
}

async function steps() {
  return [
    {
      name: 'npm packages',
      inputs: ['package-lock.json', '.npmrc'],
      output: 'node_modules/hono',
      // It empties the folder first; without a network it could not fill it again.
      // Builds need the development packages, also where NODE_ENV=production is set.
      work: () =>
        hasPackages() ? undefined : run('npm', ['ci', '--no-progress', '--include=dev']),
    },
    {
      name: 'OpenVINO',
      inputs: ['scripts/openvino.mjs'],
      output: process.env.OpenVINO_DIR === undefined ? '.deps/openvino/VERSION' : '.deps',
      work: async () => (await module('openvino.mjs')).ensureOpenVino(),
    },
    {
      name: 'addon',
      inputs: ['CMakeLists.txt', 'native', 'scripts/build-native.mjs', 'package-lock.json'],
      facts: (await module('build-native.mjs')).optionalParts(),
      output: 'build/Release/lattice.node',
      work: async () => (await module('build-native.mjs')).buildNative(),
    },
    {
      name: 'TypeScript',
      inputs: [
        'src',
        'scripts/bundle.mjs',
        'scripts/load-bundle.cjs',
        'scripts/store-code.cjs',
        'tsconfig.json',
        'tsconfig.build.json',
        'package-lock.json',
      ],
      output: 'dist/cli/lattice.js',
      work: () => {
        run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json']);
        // npm makes it executable only when npx links the package for the first time at this path.
        chmodSync(join(ROOT, 'dist/cli/lattice.js'), 0o755);
        // A test run says NODE_ENV=test, with which the page would become another, larger one.
        const env = { ...process.env, NODE_ENV: 'production' };
        const vite = ['node_modules/vite/bin/vite.js', 'build'];
        run(process.execPath, [...vite, '--config', 'scripts/bundle.mjs'], { env });
        run(process.execPath, [...vite, 'src/ui'], { env });
      },
    },
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await setup({ tests: process.argv.includes('--tests') });
  } catch (error) {
    console.error(`\n${error instanceof Error ? error.message : String(error)}`);
    console.error('\nSet-up stopped. Run the same command again: finished steps are kept.');
    process.exit(1);
  }
}
