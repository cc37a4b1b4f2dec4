#!/usr/bin/env node
import { consoleTerminal } from './terminal.js';
import { runCli } from './run-cli.js';

// A closed pipe (`lattice detect ... | head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

const terminal = consoleTerminal(process, (code) => {
  process.exitCode = code;
});
await runCli(process.argv.slice(2), terminal);
