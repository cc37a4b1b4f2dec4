import type { Command } from 'commander';
import { pathFault } from '../base/path-fault.js';

/** The output of a command. Tests pass their own. */
export interface Terminal {
  out(line: string): void;
  err(line: string): void;
  /** Writes a part of a file to standard output; resolves once it is taken. */
  write(part: string | Uint8Array): Promise<void>;
  /** Standard output is a screen, not a file or a pipe. */
  readonly isScreen: boolean;
  /** Shows a line that the next one replaces; absent if standard error is not a terminal. */
  progress?(line: string): void;
  /** Defaults to 0; the last call wins. */
  setExitCode(code: number): void;
}

export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;
/** Done, but for some images that failed. */
export const EXIT_PARTLY = 3;

/** A wrong call: exit code 2 and only the message. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What `work` gives. Rejects with `UsageError` where it does: the user named a path that cannot be used. */
export async function onUserPath<T>(path: string, use: 'read' | 'write', work: Promise<T>) {
  return work.catch((error: unknown) => {
    throw new UsageError(pathFault(error, path, use));
  });
}

/** Adds one command to the program. Import large modules in its action, so that `--help` is quick. */
export type RegisterCommand = (program: Command, terminal: Terminal) => void;

interface Output {
  write(part: string | Uint8Array, taken?: () => void): unknown;
  isTTY?: boolean;
}

const CLEAR_LINE = '\r\x1b[2K';

/** The terminal of a process. A progress line is taken away before anything else is written, so that no line begins behind it. */
export function consoleTerminal(
  { stdout, stderr }: { stdout: Output; stderr: Output },
  setExitCode: (code: number) => void,
): Terminal {
  let clear = '';
  const line = (output: Output) => (text: string) => {
    if (clear !== '') stderr.write(clear);
    clear = '';
    output.write(`${text}\n`);
  };
  const terminal: Terminal = {
    out: line(stdout),
    err: line(stderr),
    write: (part) =>
      new Promise((resolve) => {
        stdout.write(part, resolve);
      }),
    isScreen: stdout.isTTY === true,
    setExitCode,
  };
  if (stderr.isTTY === true) {
    terminal.progress = (text) => {
      stderr.write(`${CLEAR_LINE}${text}`);
      clear = CLEAR_LINE;
    };
  }
  return terminal;
}
