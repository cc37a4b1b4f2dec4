/** `lattice run` as a process of its own, which a test ends early. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { FEW_THREADS } from '../support/service-client.js';
import { PROJECT_ROOT } from '../support/service-process.js';
import type { CliRun } from './run.js';

export interface RunCall {
  env?: Record<string, string>;
  input?: string;
  /** Sends the signal when the so-manyth line of progress is there. */
  signal?: [name: NodeJS.Signals, line: number];
  /** SIGKILL as soon as it holds. */
  killWhen?: () => boolean;
}

export async function runCommand(
  args: string[],
  { env = {}, input = '', signal, killWhen }: RunCall = {},
): Promise<CliRun> {
  const child = spawn(process.execPath, ['dist/cli/lattice.js', 'run', ...args], {
    cwd: PROJECT_ROOT,
    env: { ...process.env, ...FEW_THREADS, ...env },
  });
  const result = { out: '', err: '', code: 0 };
  let isSent = false;
  child.stdout.on('data', (chunk: Buffer) => (result.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => {
    result.err += chunk.toString();
    // A second Ctrl-C would end it at once.
    if (signal === undefined || isSent || doneOf(result.err).length < signal[1]) return;
    isSent = child.kill(signal[0]);
  });
  child.stdin.end(input);
  const look = setInterval(() => {
    if (killWhen?.() === true) child.kill('SIGKILL');
  }, 5);
  const [code] = (await once(child, 'close')) as [number | null];
  clearInterval(look);
  return { ...result, code: code ?? -1 };
}

/** Pictures that were done at each line of progress. */
export const doneOf = (err: string): number[] =>
  [...err.matchAll(/^(\d+) of \d+/gm)].map(([, done]) => Number(done));
