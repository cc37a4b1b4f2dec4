import type { Command } from 'commander';

/** The output of a command. Tests pass their own. */
export interface Terminal {
  out(line: string): void;
  err(line: string): void;
  /** Shows a line that the next one replaces; absent if standard error is not a terminal. */
  progress?(line: string): void;
  /** Defaults to 0; the last call wins. */
  setExitCode(code: number): void;
}

export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

/** A wrong call: exit code 2 and only the message. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Adds one command to the program. Import large modules in its action, so that `--help` is quick. */
export type RegisterCommand = (program: Command, terminal: Terminal) => void;

interface Output {
  write(text: string): unknown;
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
  const terminal: Terminal = { out: line(stdout), err: line(stderr), setExitCode };
  if (stderr.isTTY === true) {
    terminal.progress = (text) => {
      stderr.write(`${CLEAR_LINE}${text}`);
      clear = CLEAR_LINE;
    };
  }
  return terminal;
}
