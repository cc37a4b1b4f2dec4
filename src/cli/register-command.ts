import type { Command } from 'commander';
import type { Terminal } from './terminal.js';

/** Adds one command to the program. Heavy imports belong into its action: help must be quick. */
export type RegisterCommand = (program: Command, terminal: Terminal) => void;
