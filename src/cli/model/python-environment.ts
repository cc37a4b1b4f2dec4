/** The Python environment of the model tools, made at the first use and again when the requirements change. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../config.js';
import { UsageError } from '../terminal.js';

const REQUIREMENTS = join(PACKAGE_ROOT, 'models', 'quantize', 'requirements.txt');
const PLACE = join(PACKAGE_ROOT, '.deps', 'quantize');

/**
 * Path of its Python. Complete or not there: it is made beside its place and renamed, so that an interruption or a
 * second command at the same time does no harm. Call Python as `python -m`; scripts name the folder they were made in.
 */
export async function pythonEnvironment(report: (line: string) => void): Promise<string> {
  const wanted = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex');
  const python = join(PLACE, 'bin', 'python');
  if (isMadeFrom(wanted)) return python;
  report('Setting up the quantisation tools (once, about a minute) ...');
  const partial = `${PLACE}.${process.pid}`;
  try {
    mkdirSync(partial, { recursive: true });
    await runProgram('python3', ['-m', 'venv', partial]);
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    await runProgram(join(partial, 'bin', 'python'), [...install, '-r', REQUIREMENTS]);
    writeFileSync(stampIn(partial), wanted);
    if (!isMadeFrom(wanted)) {
      rmSync(PLACE, { recursive: true, force: true });
      renameSync(partial, PLACE);
    }
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return python;
}

const stampIn = (folder: string) => join(folder, 'requirements.sha256');

function isMadeFrom(wanted: string): boolean {
  return existsSync(stampIn(PLACE)) && readFileSync(stampIn(PLACE), 'utf8') === wanted;
}

/** What the program wrote. Rejects with the last lines of it when it fails. */
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
      fail(new UsageError(`${program} cannot be run: ${error.message}`));
    });
    child.once('close', (code) => {
      if (code === 0) done(output);
      else fail(new Error(`${program} ended with ${code}:\n${output.trimEnd()}`));
    });
  });
}
