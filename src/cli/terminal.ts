import { once } from 'node:events';
import { createInterface } from 'node:readline';
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
  /** Its width; absent if it is no screen. */
  readonly columns?: number;
  /** Shows a line that the next one replaces; absent if standard error is not a terminal. */
  progress?(line: string): void;
  /** A question to be answered with yes or no; absent if nobody is there to answer. */
  confirm?(question: string): Promise<boolean>;
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

/** The command line is right and cannot be followed: exit code 1 and only the message. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** Nobody reads standard output any more: `lattice detect ... | head`. */
export class OutputClosed extends Error {}

/** Codes of a path that is wrong; a full or broken disk is no fault of the command line. */
const WRONG_PATH = new Set(
  ['ENOENT', 'ENOTDIR', 'EISDIR', 'EEXIST', 'EACCES', 'EPERM', 'EROFS', 'ELOOP'].concat(
    ...['ENAMETOOLONG', 'ENXIO', 'EINVAL'],
  ),
);

/** The error of a system call on a path that the user named, as one of the command. */
export function userPathError(error: unknown, path: string, use: 'read' | 'write'): Error {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const message = pathFault(error, path, use);
  return WRONG_PATH.has(code) ? new UsageError(message) : new Refusal(message);
}

/** Resolves as `work`. Rejects with `userPathError` where `work` rejects. */
export async function onUserPath<T>(path: string, use: 'read' | 'write', work: Promise<T>) {
  return work.catch((error: unknown) => {
    throw userPathError(error, path, use);
  });
}

/** Adds one command to the program. Import large modules in its action, so that `--help` is quick. */
export type RegisterCommand = (program: Command, terminal: Terminal) => void;

interface Output {
  write(part: string | Uint8Array, taken?: (error?: Error | null) => void): unknown;
  isTTY?: boolean;
  columns?: number;
}

const CLEAR_LINE = '\r\x1b[2K';

interface Input extends NodeJS.ReadableStream {
  isTTY?: boolean;
}

/**
 * The terminal of a process. A progress line is taken away before anything else is written, so that no line begins
 * behind it.
 */
export function consoleTerminal(
  { stdin, stdout, stderr }: { stdin?: Input; stdout: Output; stderr: Output },
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
      new Promise((resolve, reject) => {
        stdout.write(part, (error) => {
          if (error) reject(new OutputClosed(error.message, { cause: error }));
          else resolve();
        });
      }),
    isScreen: stdout.isTTY === true,
    ...(stdout.isTTY === true && stdout.columns && { columns: stdout.columns }),
    setExitCode,
  };
  if (stderr.isTTY === true) {
    terminal.progress = (text) => {
      stderr.write(`${CLEAR_LINE}${text}`);
      clear = CLEAR_LINE;
    };
  }
  if (stdin?.isTTY === true && stderr.isTTY === true) {
    terminal.confirm = async (question) => {
      terminal.err(`${question} (y/N)`);
      const lines = createInterface({ input: stdin });
      // The end of the input is no yes.
      const [answer = ''] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as [
        string?,
      ];
      lines.close();
      return /^y(?:es)?$/i.test(answer.trim());
    };
  }
  return terminal;
}
