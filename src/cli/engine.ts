/** `lattice engine`: TensorRT engines, from outside a running service. */
import { examples } from './command-options.js';
import { addSettingFlags, configOf } from './setting-flags.js';
import type { RegisterCommand } from './terminal.js';

const MORE = `
An engine is a model built by TensorRT for one kind of GPU. Building takes minutes, so it is kept: a file in the engine
folder, whose name says of what it was built.
`;

const EXAMPLE = examples('engine build vehicles-v8n');

export const registerEngine: RegisterCommand = (program, terminal) => {
  const engine = program
    .command('engine')
    .description('build TensorRT engines')
    .addHelpText('after', EXAMPLE);
  const command = engine
    .command('build')
    .description('build the engine of a model for the GPUs of this machine; takes minutes')
    .addHelpText('after', MORE + EXAMPLE)
    .argument('<model>', 'name as `lattice model list` shows it')
    .action(async (model: string, flags: object) => {
      const { buildEngine } = await import('./engine/building.js');
      await buildEngine(model, configOf(flags), terminal);
    });
  addSettingFlags(command, ['dataDir', 'engineCacheDir', 'modelsDir', 'modelFamily', 'threads']);
};
