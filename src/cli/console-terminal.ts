/** The terminal of a process: its standard output and standard error. */
import type { Terminal } from './terminal.js';

interface Output {
  write(text: string): unknown;
  isTTY?: boolean;
}

const CLEAR_LINE = '\r\x1b[2K';

/** A progress line is taken away before anything else is written, so that it never stands in the midst of a line. */
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
