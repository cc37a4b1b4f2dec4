/** `lattice detect`: images on this machine, without a service. */
import { settingsFor } from '../settings/settings.js';
import { addParameterFlags, nameList } from './command-options.js';
import type { DetectFlags } from './detect-images.js';
import { addExportFlags, checkExportFlags } from './export-output.js';
import { printable } from './output-text.js';
import { addCoverFlags, addMarginFlag, checkPictureFlags } from './picture-flags.js';
import { addSettingFlags, configOf } from './setting-flags.js';
import { EXIT_PARTLY, UsageError, type RegisterCommand } from './terminal.js';

const EXAMPLES = `
Folders are searched for images, also in their subfolders; quote a glob to have it expanded here.
Ctrl-C stops after the images that have begun; what is done by then is printed and written.
Exit code: 0 all images done, 3 some failed, 1 none was done, 2 the command line is wrong,
130 Ctrl-C.

Examples:
  $ lattice detect photo.jpg
  $ lattice detect photos/ --classes car,truck --confidence 0.4
  $ lattice detect 'photos/**/*.jpg' --json > boxes.ndjson
  $ lattice detect photos/ --format yolo -o labels.zip
  $ lattice detect photos/ --save drawn/
  $ lattice detect photos/ --save to-share/ --cover car,bus
  $ lattice detect photo.jpg --model depot`;

export const registerDetect: RegisterCommand = (program, terminal) => {
  const command = program
    .command('detect')
    .description('detect in a few images and print the boxes')
    .argument('<path...>', 'image, folder or glob')
    .option('-m, --model <name>', 'model to use, by the name that `lattice model list` shows');
  addParameterFlags(command, { withDefaults: true })
    .option('--classes <names>', 'what to keep of what the model knows, such as car,bus', nameList)
    .option('--annotate, --save <folder>', 'folder for copies with the boxes drawn')
    .option('--json', 'print one JSON object per image');
  addMarginFlag(addCoverFlags(command, 'cover boxes of these classes in the copies of --save'));
  addExportFlags(command)
    .addHelpText('after', EXAMPLES)
    .action(async (paths: string[], flags: DetectFlags) => {
      checkExportFlags(flags, terminal);
      checkPictureFlags(flags);
      if (flags.cover !== undefined && flags.save === undefined) {
        throw new UsageError('--cover is for copies: name their folder with --save.');
      }
      // The roots come from the paths, and one run needs no repeated self-check.
      const config = { ...configOf(flags), canaryMinutes: 0 };
      const { expandPaths } = await import('./image-paths.js');
      const { imagesText } = await import('../api/left-out.js');
      const { images, unreadable, leftOut } = await expandPaths(paths);
      if (Object.keys(leftOut).length > 0) terminal.err(`${imagesText(images.length, leftOut)}.`);
      for (const folder of unreadable) {
        terminal.err(printable(`No permission to read ${folder}: its images are left out.`));
      }
      if (unreadable.length > 0) terminal.setExitCode(EXIT_PARTLY);
      const { detectImages } = await import('./detect-images.js');
      const verbose = program.opts().verbose === true;
      await detectImages(images, flags, config, terminal, verbose);
    });
  addSettingFlags(command, settingsFor('detect'));
};
