// Python environments beneath .deps, for tests and demonstrations; users bring their own.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './setup.mjs';

/** Executes the notebooks that need no cluster. LATTICE_EDGE_PYTHON names another Python that can. */
export function edgePython() {
  return (
    process.env.LATTICE_EDGE_PYTHON ??
    environment({ name: 'edge', what: 'the notebooks', files: ['edge/requirements-test.txt'] })
  );
}

/** Runs Ray, and the notebooks on it (400 MB). LATTICE_RAY_PYTHON names another Python that can. */
export function rayPython() {
  const files = ['cluster/requirements.txt', 'edge/requirements-test.txt'];
  return process.env.LATTICE_RAY_PYTHON ?? environment({ name: 'ray', what: 'Ray', files });
}

/**
 * Path of the environment's Python, made at the first use and again when a requirement changes. Complete or not
 * there: it is made beside its place and renamed, so that an interruption or a second run at the same time does no
 * harm. Call its programs as `python -m`: scripts name the folder they were made in. Throws, with the reason, when
 * it cannot be made.
 */
function environment({ name, what, files }) {
  const place = join(ROOT, '.deps', name);
  const pins = files
    .flatMap((file) => readFileSync(join(ROOT, file), 'utf8').split('\n'))
    .filter((line) => line !== '' && !line.startsWith('#'));
  const wanted = createHash('sha256').update(pins.join('\n')).digest('hex');
  const stamp = (folder) => join(folder, 'requirements.sha256');
  const isMade = () => existsSync(stamp(place)) && readFileSync(stamp(place), 'utf8') === wanted;
  const python = join(place, 'bin', 'python');
  if (isMade()) return python;
  console.log(`Setting up Python for ${what} (once, about a minute) ...`);
  const partial = `${place}.${process.pid}`;
  try {
    mkdirSync(partial, { recursive: true });
    run('python3', ['-m', 'venv', partial]);
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    run(join(partial, 'bin', 'python'), [...install, ...pins]);
    writeFileSync(stamp(partial), wanted);
    if (!isMade()) {
      rmSync(place, { recursive: true, force: true });
      renameSync(partial, place);
    }
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return python;
}

function run(command, args) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (error) throw new Error(`${command} cannot be run: ${error.message}`);
  if (status !== 0) {
    const lines = `${stdout}${stderr}`.trim().split('\n').slice(-5).join('\n');
    throw new Error(`${command} ${args.slice(0, 3).join(' ')} failed:\n${lines}`);
  }
}
