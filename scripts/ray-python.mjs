// The Python environment with Ray, for tests and for the demonstration; a cluster brings its own.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './setup.mjs';

const REQUIREMENTS = join(ROOT, 'cluster', 'requirements.txt');
const PLACE = join(ROOT, '.deps', 'ray');
const STAMP = 'requirements.sha256';

/**
 * Path of a Python that has Ray: LATTICE_RAY_PYTHON, or one made at the first use (about a minute, 400 MB).
 * Complete or not there: it is made beside its place and renamed. Call its programs as `python -m`: scripts name the
 * folder they were made in. Throws, with the reason, when it cannot be made.
 */
export function rayPython(report = console.log) {
  if (process.env.LATTICE_RAY_PYTHON) return process.env.LATTICE_RAY_PYTHON;
  const python = join(PLACE, 'bin', 'python');
  const wanted = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex');
  if (isMadeFrom(wanted)) return python;
  report('Installing Ray for the tests (once, about a minute) ...');
  const partial = `${PLACE}.${process.pid}`;
  try {
    mkdirSync(partial, { recursive: true });
    run('python3', ['-m', 'venv', partial]);
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    run(join(partial, 'bin', 'python'), [...install, '-r', REQUIREMENTS]);
    writeFileSync(join(partial, STAMP), wanted);
    if (!isMadeFrom(wanted)) {
      rmSync(PLACE, { recursive: true, force: true });
      renameSync(partial, PLACE);
    }
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return python;
}

function isMadeFrom(wanted) {
  const stamp = join(PLACE, STAMP);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
}

function run(command, args) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (error) throw new Error(`${command} cannot be run: ${error.message}`);
  if (status !== 0) {
    const lines = `${stdout}${stderr}`.trim().split('\n').slice(-5).join('\n');
    throw new Error(`${command} ${args.slice(0, 3).join(' ')} failed:\n${lines}`);
  }
}
