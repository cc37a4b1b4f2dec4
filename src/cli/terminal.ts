/** What a command writes to and is told by; tests hand in their own. */
export interface Terminal {
  out(line: string): void;
  err(line: string): void;
  /** Shows a line that the next one replaces; absent where nobody is there to see it change. */
  progress?(line: string): void;
  /** Defaults to 0; the last call wins. */
  setExitCode(code: number): void;
}

export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

/** The caller asked for something that cannot be: exit code 2 and the message alone. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
