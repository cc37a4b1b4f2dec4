/** Every command of `lattice`, in the order of its help. A new one is a file and a line here. */
import type { Command } from 'commander';
import { registerDetect } from './detect.js';
import { registerDoctor } from './doctor.js';
import { registerOpenApi } from './openapi.js';
import { registerServe } from './serve.js';
import type { Terminal } from './terminal.js';

/** Adds one command to the program. Heavy imports belong into its action: help must be quick. */
export type RegisterCommand = (program: Command, terminal: Terminal) => void;

export const COMMANDS: readonly RegisterCommand[] = [
  registerServe,
  registerDetect,
  registerDoctor,
  registerOpenApi,
];
