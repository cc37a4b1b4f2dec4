/** Parses the command line, runs the command and turns whatever it throws into one line and an exit code. */
import { Command, CommanderError } from 'commander';
import { ServiceError } from '../client/service-error.js';
import { ConfigError, loadConfig } from '../settings/config.js';
import { LatticeError } from '../api/errors.js';
import { faultOf, isPathError } from '../base/path-fault.js';
import { BackupRefused } from '../backup/backup-refused.js';
import { registerBackup, registerRestore } from './backup.js';
import { registerBench } from './bench.js';
import { registerCompletion } from './completion.js';
import { registerDetect } from './detect.js';
import { registerDoctor } from './doctor.js';
import { registerEngine } from './engine.js';
import { groupOptions, HELP_LAYOUT, wrapParagraphs } from './help-groups.js';
import { registerJob } from './job.js';
import { registerModel } from './model.js';
import { registerOpenApi } from './openapi.js';
import { registerPlaces } from './places.js';
import { registerRun } from './run.js';
import { registerServe } from './serve.js';
import { printable, printableLines } from './output-text.js';
import { registerUsage } from './usage.js';
import { registerWatch } from './watch.js';
import { registerWebhook } from './webhook.js';
import { packageVersion } from '../base/package.js';
import {
  EXIT_FAILED,
  EXIT_USAGE,
  OutputClosed,
  Refusal,
  UsageError,
  type RegisterCommand,
  type Terminal,
} from './terminal.js';

/** The commands in the order of the help, under their headings. */
const COMMANDS: readonly [heading: string, commands: readonly RegisterCommand[]][] = [
  ['Detect on this machine, without a service:', [registerRun, registerDetect]],
  ['Run a service:', [registerServe, registerBackup, registerRestore]],
  [
    'Use a running service:',
    [
      ...[registerJob, registerWatch, registerPlaces, registerUsage, registerWebhook],
      registerBench,
    ],
  ],
  ['Models:', [registerModel, registerEngine]],
  ['This machine, and other programs:', [registerDoctor, registerCompletion, registerOpenApi]],
];

/** Width of the help where no terminal shows it. */
const HELP_COLUMNS = 80;

/** Never rejects; the exit code is told to the terminal. */
export async function runCli(args: readonly string[], output: Terminal): Promise<void> {
  const terminal = withPrintableText(output);
  const program = createProgram(terminal);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has printed the reason, or the help that was asked for.
      terminal.setExitCode(error.exitCode === 0 ? 0 : EXIT_USAGE);
      return;
    }
    // The reader of a pipe has what it wanted.
    if (error instanceof OutputClosed) return;
    explain(error, terminal, wantsStack(program));
  }
}

/**
 * Names of files and answers of a service may hold anything; a file that is written to standard output is left as it
 * is.
 */
function withPrintableText(terminal: Terminal): Terminal {
  return {
    ...terminal,
    out: (text) => {
      terminal.out(printableLines(text));
    },
    err: (text) => {
      terminal.err(printableLines(text));
    },
  };
}

export function createProgram(terminal: Terminal): Command {
  const program = new Command('lattice')
    .description('Finds cars and other vehicles in images: of a folder, or as a service.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .option('-v, --verbose', 'log more and show where an error came from')
    .showHelpAfterError('Run with --help for what is possible.')
    .addHelpText('after', '\nlattice COMMAND --help shows the options and examples of a command.');
  for (const [heading, commands] of COMMANDS) {
    program.commandsGroup(heading);
    for (const register of commands) register(program, terminal);
  }
  const columns = terminal.columns ?? HELP_COLUMNS;
  for (const command of withSubcommands(program)) {
    groupOptions(command);
    command
      .helpCommand(false)
      .exitOverride()
      .configureHelp(HELP_LAYOUT)
      .configureOutput({
        getOutHelpWidth: () => columns,
        writeOut: (text) => {
          terminal.out(wrapParagraphs(text.trimEnd(), columns));
        },
        writeErr: (text) => {
          terminal.err(text.trimEnd());
        },
      });
  }
  return program;
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

/** Whether errors are printed with their stack: with --verbose or LATTICE_LOG_LEVEL=debug. */
function wantsStack(program: Command): boolean {
  if (program.opts().verbose === true) return true;
  try {
    return ['debug', 'trace'].includes(loadConfig().logLevel);
  } catch {
    return false;
  }
}

function explain(error: unknown, terminal: Terminal, withStack: boolean): void {
  const usage = error instanceof UsageError || error instanceof ConfigError;
  const message = messageOf(error);
  const known = error instanceof LatticeError || error instanceof ServiceError;
  terminal.err(`lattice: ${known ? `${printable(message)} (${error.code})` : message}`);
  if (error instanceof ServiceError) for (const line of moreOf(error)) terminal.err(line);
  if (withStack && error instanceof Error) {
    terminal.err(error.stack ?? '');
    for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
      terminal.err(`caused by ${cause.stack ?? cause.message}`);
    }
  } else if (!usage && !isExplained(error)) {
    terminal.err(
      'Run with --verbose to see where this came from; lattice doctor checks the set-up.',
    );
  }
  terminal.setExitCode(usage ? EXIT_USAGE : EXIT_FAILED);
}

function messageOf(error: unknown): string {
  if (isPathError(error)) return faultOf(error);
  return error instanceof Error ? error.message : String(error);
}

/** Whether the message of the error says all: the caller named something wrong, or the service has answered. */
function isExplained(error: unknown): boolean {
  if (error instanceof LatticeError) return error.status < 500;
  return (
    [ServiceError, BackupRefused, Refusal].some((kind) => error instanceof kind) ||
    isPathError(error)
  );
}

/** Lines with the remedy for the error of a service, or with more facts on it. */
function moreOf({ code, status, errors, request_id: id }: ServiceError): string[] {
  if (code === 'unreachable') {
    return [
      '`lattice serve` starts one; --url (of `lattice run`: --service) or LATTICE_CORE_API_URL says where it is.',
    ];
  }
  if (code === 'unauthorized') return ['The key comes from --api-key-file or LATTICE_API_KEY.'];
  const rules = errors.flatMap(({ pointer, detail }) =>
    pointer === undefined ? [] : [`  ${pointer}: ${detail}`],
  );
  const request = id === undefined || (status ?? 0) < 500 ? [] : [`Request ${id} in its log.`];
  return [...rules, ...request];
}
