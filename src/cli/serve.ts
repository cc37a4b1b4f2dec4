/** `lattice serve`: the HTTP and WebSocket service. */
import { memoryShortage } from '../base/memory-limits.js';
import { ConfigError, loadConfig } from '../settings/config.js';
import type { RegisterCommand } from './terminal.js';
import { addSettingFlags } from './setting-flags.js';

const EXAMPLES = `
Every option is also an environment variable (--image-roots is LATTICE_IMAGE_ROOTS) and a key of the file
named by --config; options win over the environment, the environment over the file.

Examples:
  $ lattice serve --image-roots /srv/photos
  $ lattice serve --port 0 --device cpu --precision f32
  $ LATTICE_ENV=production lattice serve --host 0.0.0.0 --api-keys-file keys.txt`;

export const registerServe: RegisterCommand = (program) => {
  const command = program
    .command('serve')
    .description('run the detection service')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: Record<string, unknown>) => {
      const verbose = program.opts().verbose === true;
      const config = loadConfig(verbose ? { logLevel: 'debug', ...flags } : flags);
      // Checked before the libraries are loaded, which fail without a reason.
      const shortage = memoryShortage();
      if (shortage !== null) throw new ConfigError(shortage);
      const { runService } = await import('../main.js');
      await runService(config);
    });
  addSettingFlags(command);
};
