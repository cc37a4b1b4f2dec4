#!/usr/bin/env node
import { runCli } from './run-cli.js';

// A reader that went away (`lattice detect ... | head`) is no fault of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

await runCli(process.argv.slice(2), {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
  setExitCode: (code) => {
    process.exitCode = code;
  },
});
