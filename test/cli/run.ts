/** Runs a command line in this process and gives what it printed. */
import { runCli } from '../../src/cli/run-cli.js';
import type { Terminal } from '../../src/cli/terminal.js';

export interface CliRun {
  out: string;
  err: string;
  code: number;
}

export function run(...args: string[]): Promise<CliRun> {
  return runOn({}, ...args);
}

/** On a terminal of these parts. */
export async function runOn(parts: Partial<Terminal>, ...args: string[]): Promise<CliRun> {
  const result: CliRun = { out: '', err: '', code: 0 };
  await runCli(args, {
    out: (line) => (result.out += `${line}\n`),
    write: (part) => {
      result.out += Buffer.from(part).toString();
      return Promise.resolve();
    },
    isScreen: false,
    err: (line) => (result.err += `${line}\n`),
    setExitCode: (code) => (result.code = code),
    ...parts,
  });
  return result;
}
