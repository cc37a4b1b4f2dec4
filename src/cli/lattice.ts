#!/usr/bin/env node
import { consoleTerminal } from './terminal.js';
import { runCli } from './run-cli.js';

/** That of Node for a program whose last promise is never settled. */
const EXIT_UNENDED = 13;

// A closed pipe (`lattice detect ... | head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

/** Nothing that the command waits for can happen any more. */
const failUnended = (): void => {
  process.exitCode = EXIT_UNENDED;
};
process.once('beforeExit', failUnended);

const terminal = consoleTerminal(process, (code) => {
  process.exitCode = code;
});
void runCli(process.argv.slice(2), terminal).then(() => process.off('beforeExit', failUnended));
