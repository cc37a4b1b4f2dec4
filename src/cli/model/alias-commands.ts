/** `lattice model alias`: names that stand for models in a running service, over its HTTP API. */
import type { Command } from 'commander';
import { examples, numberThat, serviceCommand } from '../command-options.js';
import type { AccessFlags } from '../job/open-client.js';
import type { Terminal } from '../terminal.js';
import type { PromoteFlags, SetFlags } from './aliasing.js';

const RECORD = 'print its record';

export function registerAlias(parent: Command, terminal: Terminal): void {
  const alias = parent
    .command('alias')
    .description('names of a running service that stand for models: a new model on trial')
    .addHelpText(
      'after',
      examples('model alias set depot depot-v1 --shadow depot-v2', 'model alias promote depot'),
    );
  serviceCommand(alias, {
    name: 'list',
    description: 'aliases, by name',
    json: 'print one JSON array',
    calls: ['--json'],
  }).action(async (flags: AccessFlags) => {
    const { listAliases } = await import('./aliasing.js');
    await listAliases(flags, terminal);
  });
  registerSet(alias, terminal);
  named(
    alias,
    'promote',
    'the canary, without one the shadow, answers; exit code 1 for a shadow that `agreement` does not pass',
    async (name, flags: PromoteFlags) => {
      const { promoteAlias } = await import('./aliasing.js');
      await promoteAlias(name, flags, terminal);
    },
  ).option('-f, --force', 'promote such a shadow without asking');
  named(alias, 'rollback', 'take the last change back', async (name, flags) => {
    const { rollBackAlias } = await import('./aliasing.js');
    await rollBackAlias(name, flags, terminal);
  });
  named(alias, 'remove', 'delete an alias; its models stay', async (name, flags) => {
    const { removeAlias } = await import('./aliasing.js');
    await removeAlias(name, flags, terminal);
  });
  named(
    alias,
    'agreement',
    'how well the shadow agrees; exit code 1 while it is flagged, has failed or cannot be judged',
    async (name, flags) => {
      const { showAgreement } = await import('./aliasing.js');
      await showAgreement(name, flags, terminal);
    },
  );
}

function registerSet(parent: Command, terminal: Terminal): void {
  serviceCommand(parent, {
    name: 'set',
    description: 'make an alias, or replace it whole',
    json: RECORD,
    calls: ['depot depot-v1 --shadow depot-v2', 'depot depot-v1 --canary depot-v2 --share 0.1'],
  })
    .argument('<name>', 'what requests call it')
    .argument('<model>', 'the model that answers')
    .option('--canary <model>', 'answers a share of the requests in its place')
    .option('--share <number>', 'of the canary, as 0.1', share)
    .option('--shadow <model>', 'looks at the same pictures and answers none')
    .action(async (name: string, model: string, flags: SetFlags) => {
      const { setAlias } = await import('./aliasing.js');
      await setAlias(name, model, flags, terminal);
    });
}

function named(
  parent: Command,
  verb: string,
  description: string,
  act: (name: string, flags: AccessFlags) => Promise<void>,
): Command {
  return serviceCommand(parent, {
    name: verb,
    description,
    json: verb === 'remove' ? 'print nothing' : RECORD,
    calls: ['depot'],
  })
    .argument('<name>', 'of the alias')
    .action(act);
}

const share = numberThat('a number above 0, at most 1', (value) => value > 0 && value <= 1);
