// The Python environment that executes the notebooks of edge/, made at the first use and again when its requirements
// change. Prints the path of its Python on the last line; with --cluster it holds Ray's client too.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const requirementsIn = (file) => readFileSync(join(ROOT, 'edge', file), 'utf8').split('\n');
const isPinned = (line) => /^[\w[\]-]+==/.test(line);

/**
 * Complete or not there: it is made beside its place and renamed, so that an interruption or a second run at the same
 * time does no harm. Call its Python as `python -m`; scripts name the folder they were made in.
 */
export function edgeEnvironment(withCluster) {
  const pins = requirementsIn('requirements-test.txt').filter(isPinned);
  if (withCluster) {
    pins.push(...requirementsIn('requirements.txt').filter((line) => line.startsWith('ray[')));
  }
  const place = join(ROOT, '.deps', withCluster ? 'edge-cluster' : 'edge');
  const wanted = createHash('sha256').update(pins.join('\n')).digest('hex');
  const stamp = (folder) => join(folder, 'requirements.sha256');
  const isMade = () => existsSync(stamp(place)) && readFileSync(stamp(place), 'utf8') === wanted;
  const python = join(place, 'bin', 'python');
  if (isMade()) return python;
  console.log('Setting up the environment of the notebooks (once, about a minute) ...');
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

function run(program, args) {
  const result = spawnSync(program, args, { encoding: 'utf8' });
  if (result.error) throw new Error(`${program} cannot be run: ${result.error.message}`);
  if (result.status !== 0) {
    throw new Error(`${program} ${args.join(' ')} failed:\n${result.stdout}${result.stderr}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log(edgeEnvironment(process.argv.includes('--cluster')));
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}
