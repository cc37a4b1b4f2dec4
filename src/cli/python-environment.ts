/** Python environments beneath `.deps`: made at the first use and again when a requirement changes. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../base/package.js';
import { Refusal } from './terminal.js';

export interface PythonEnvironment {
  /** The folder of the environment in `.deps`. */
  name: string;
  /** The purpose of the environment, as in "Setting up Python for ...". */
  what: string;
  /** Requirement files, relative to the package. */
  files: string[];
}

/** Path of its Python where it has been made of just these requirements. */
export function madePython({ name, files }: PythonEnvironment): string | undefined {
  const place = join(PACKAGE_ROOT, '.deps', name);
  return isMadeFrom(digestOf(files.flatMap(requirementsOf)), place) ? pythonIn(place) : undefined;
}

/**
 * Path of its Python. Complete or not there: it is made beside its place and renamed, so that an interruption or a
 * second command at the same time does no harm. Call Python as `python -m`; scripts name the folder they were made in.
 * Rejects, with the reason, when it cannot be made.
 */
export async function pythonEnvironment(
  { name, what, files }: PythonEnvironment,
  report: (line: string) => void,
): Promise<string> {
  const place = join(PACKAGE_ROOT, '.deps', name);
  const pins = files.flatMap(requirementsOf);
  const wanted = digestOf(pins);
  if (isMadeFrom(wanted, place)) return pythonIn(place);
  report(`Setting up Python for ${what} (once, about a minute) ...`);
  const partial = `${place}.${process.pid}`;
  try {
    mkdirSync(partial, { recursive: true });
    await runProgram('python3', ['-m', 'venv', partial]);
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    await runProgram(pythonIn(partial), [...install, ...pins]);
    writeFileSync(stampIn(partial), wanted);
    if (!isMadeFrom(wanted, place)) {
      rmSync(place, { recursive: true, force: true });
      renameSync(partial, place);
    }
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return pythonIn(place);
}

function requirementsOf(file: string): string[] {
  const lines = readFileSync(join(PACKAGE_ROOT, file), 'utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

const digestOf = (pins: string[]) => createHash('sha256').update(pins.join('\n')).digest('hex');
const pythonIn = (folder: string) => join(folder, 'bin', 'python');
const stampIn = (folder: string) => join(folder, 'requirements.sha256');

function isMadeFrom(wanted: string, place: string): boolean {
  return existsSync(stampIn(place)) && readFileSync(stampIn(place), 'utf8') === wanted;
}

/** The last 64,000 characters of the program's output. Rejects with them when it fails. */
export function runProgram(
  program: string,
  args: string[],
  environment?: NodeJS.ProcessEnv,
): Promise<string> {
  return new Promise((done, fail) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: environment });
    let output = '';
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-64_000);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', (error) => {
      const absent = 'code' in error && error.code === 'ENOENT';
      const reason = absent ? 'it is not installed' : 'this user may not start it';
      fail(new Refusal(`${program} cannot be run: ${reason}.`));
    });
    child.once('close', (code) => {
      if (code === 0) done(output);
      else fail(new Error(`${program} ended with ${code}:\n${output.trimEnd()}`));
    });
  });
}
