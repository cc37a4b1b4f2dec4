/** `lattice engine`: the folder of built TensorRT engines, from outside a running service. */
import type { Command } from 'commander';
import { examples, numberThat } from './command-options.js';
import { addSettingFlags, configOf } from './setting-flags.js';
import type { PruneFlags } from './engine/pruning.js';
import type { RegisterCommand, Terminal } from './terminal.js';

const EXAMPLES = `
An engine is a model built by TensorRT for one kind of GPU. Building takes minutes, so it is kept.

Examples:
  $ lattice engine build vehicles-v8n
  $ lattice engine list
  $ lattice engine inspect vehicles-v8n
  $ lattice engine prune --older-than 30 --dry-run`;

const SETTINGS = ['dataDir', 'engineCacheDir'] as const;

const days = numberThat('a number of days, 0 or more', (value) => value >= 0);

export const registerEngine: RegisterCommand = (program, terminal) => {
  const engine = program
    .command('engine')
    .description('build, list, inspect and remove TensorRT engines')
    .addHelpText('after', EXAMPLES);
  registerBuild(engine, terminal);
  registerList(engine, terminal);
  registerInspect(engine, terminal);
  registerPrune(engine, terminal);
};

function registerBuild(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('build')
    .description('build the engine of a model for the GPUs of this machine; takes minutes')
    .addHelpText('after', examples('engine build vehicles-v8n'))
    .argument('<model>', 'name as `lattice model list` shows it')
    .action(async (model: string, flags: object) => {
      const { buildEngine } = await import('./engine/building.js');
      await buildEngine(model, configOf(flags), terminal);
    });
  addSettingFlags(command, [...SETTINGS, 'modelsDir', 'modelFamily', 'threads']);
}

function registerList(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('list')
    .description('engines that are stored, and what is wrong with those that cannot be used')
    .addHelpText('after', examples('engine list'))
    .option('--json', 'print one JSON array')
    .action(async (flags: { json?: boolean }) => {
      const { listEngines } = await import('./engine/listing.js');
      await listEngines(configOf(flags), flags.json === true, terminal);
    });
  addSettingFlags(command, SETTINGS);
}

function registerInspect(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('inspect')
    .description('what the name and the file of an engine tell')
    .addHelpText('after', examples('engine inspect vehicles-v8n'))
    .argument('<engine>', 'its model, or the start of its name as `lattice engine list` shows it')
    .option('--json', 'print one JSON array')
    .action(async (engine: string, flags: { json?: boolean }) => {
      const { inspectEngines } = await import('./engine/listing.js');
      await inspectEngines(engine, configOf(flags), flags.json === true, terminal);
    });
  addSettingFlags(command, SETTINGS);
}

function registerPrune(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('prune')
    .description('remove engines of earlier releases, and what broken-off builds left')
    .addHelpText('after', examples('engine prune --older-than 30 --dry-run'))
    .option('--older-than <days>', 'also those not used for so many days', days)
    .option('--all', 'every engine; the next start builds anew')
    .option('--dry-run', 'only say what would be removed')
    .action(async (flags: PruneFlags) => {
      const { pruneEngines } = await import('./engine/pruning.js');
      await pruneEngines(flags, configOf(flags), terminal);
    });
  addSettingFlags(command, SETTINGS);
}
