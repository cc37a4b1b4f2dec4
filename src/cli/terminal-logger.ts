/** The log of a service that a command has in its own process. */
import { createLogger, type Logger } from '../service/logger.js';
import type { Terminal } from './terminal.js';

/** To standard error with --verbose; else nowhere, because the command says itself what it does. */
export function terminalLogger(terminal: Terminal, verbose: boolean): Logger {
  const write = (line: string) => {
    terminal.err(line.trimEnd());
  };
  return createLogger({ logLevel: verbose ? 'debug' : 'silent' }, { write });
}
