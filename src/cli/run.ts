/** `lattice run`: all pictures of folders, to a report and a table of counts, here or at a running service. */
import { join, resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { memoryShortage } from '../base/memory-limits.js';
import { EXPORT_FORMATS, type ExportFormat } from '../export/formats.js';
import { ConfigError } from '../settings/config.js';
import { settingsFor } from '../settings/settings.js';
import { fraction } from './command-options.js';
import { addJobFlags } from './job/job-flags.js';
import {
  addPictureFlags,
  checkPictureFlags,
  makesPictures,
  type PictureFlags,
} from './picture-flags.js';
import type { RunPlace } from './run/run-service.js';
import type { RunFlags } from './run/run-to-end.js';
import { SORTS } from './run/sort-ways.js';
import { addSettingFlags, configOf, givenSettings } from './setting-flags.js';
import { UsageError, type RegisterCommand } from './terminal.js';

/** Beside the images, where --out names no other. */
const RUN_FOLDER = 'lattice-run';

const EXAMPLES = `
The folder of --out gets report.html, which a browser shows from the disk, counts.csv with the boxes of each folder and
hour, the results in each --format, and the jobs of the run. Ended early, even by SIGKILL, the same command goes on. When
a run has ended, the same command runs what has changed or failed since, and takes over the other results.
Quote a glob to have it expanded here. \`-\` reads names of files from standard input, one a line.
With --service the images run at a service that reads the same files at the same paths; ended early, its jobs go on there.
Exit code: 0 all images done, 3 some failed or have no picture, 1 it could not go on, 2 the command line is wrong, 130 Ctrl-C.

Examples:
  $ lattice run photos/
  $ lattice run 2025/ 2026/ --out counts-of-two-years --format csv --format coco
  $ lattice run photos/ --sort link
  $ lattice run photos/ --classes car,truck --confidence 0.4 --max-failure-share 0.1
  $ lattice run /mnt/cameras --service http://127.0.0.1:8000 --out cameras
  $ find /mnt/cameras -name '*.jpg' -newer last | lattice run - --out /srv/run`;

type CommandFlags = RunFlags &
  PictureFlags & { out?: string; undoSort?: boolean; service?: string; apiKeyFile?: string };

export const registerRun: RegisterCommand = (program, terminal) => {
  const command = program
    .command('run')
    .description(
      'all images of folders, to a report and a table of counts; goes on where it was ended',
    )
    .argument('<path...>', 'folder, glob or image; - for a list of files on standard input')
    .option(
      '--out <folder>',
      'folder of the run; default: lattice-run in the first folder that is named',
    )
    .addOption(
      new Option('--format <format>', 'a file of the results; may be repeated (default: ndjson)')
        .choices(EXPORT_FORMATS)
        .argParser(formatList),
    )
    .option(
      '--max-failure-share <share>',
      'end the run when more than this share of the images that have ended failed, after 20',
      fraction,
    );
  addPictureFlags(command);
  command
    .addOption(
      new Option(
        '--sort <way>',
        'also place the images into sorted/<class> of the run folder, those with more classes into several, others ' +
          'into empty and failed',
      ).choices(SORTS),
    )
    .option('--yes', 'move the images of --sort move without asking')
    .option('--undo-sort', 'move the images of --sort back, or remove its links or copies; no run');
  addJobFlags(command, { isRun: true })
    .option(
      '--service <address>',
      'run the images at this service or cluster, which has them at the same paths beneath its image folders',
    )
    .option('--api-key-file <file>', 'file with the API key of --service')
    .addHelpText('after', EXAMPLES)
    .action(async (paths: string[], flags: CommandFlags) => {
      checkPictureFlags(flags);
      const openPlace = placeOpener(flags, program.opts().verbose === true);
      const { firstFolder, namedFiles } = await import('./run/named-files.js');
      if (flags.undoSort === true) {
        const { undoSort } = await import('./run/sort-pictures.js');
        // Images that were moved are not where the command line names them.
        const beside = async () => join(firstFolder(await namedFiles(paths)), RUN_FOLDER);
        await undoSort(resolve(flags.out ?? (await beside())), terminal);
        return;
      }
      const named = await namedFiles(paths);
      const folder = resolve(flags.out ?? join(firstFolder(named), RUN_FOLDER));
      const { runFolders } = await import('./run/run-folders.js');
      await runFolders({ named, folder, flags, terminal }, await openPlace());
    });
  addSettingFlags(command, settingsFor('detect'));
};

/** Throws `UsageError` or `ConfigError` for flags with which the run cannot be. */
function placeOpener(flags: CommandFlags, verbose: boolean): () => Promise<RunPlace> {
  const { service, apiKeyFile } = flags;
  if (service !== undefined) {
    refuseWithService(flags);
    if (makesPictures(flags)) refuseSmallMemory();
    return async () => {
      const { remotePlace } = await import('./run/remote-service.js');
      return remotePlace({ service, ...(apiKeyFile !== undefined && { apiKeyFile }) }, flags);
    };
  }
  if (apiKeyFile !== undefined) throw new UsageError('--api-key-file is for --service.');
  const config = configOf(flags);
  refuseSmallMemory();
  return async () => {
    const { embeddedPlace } = await import('./run/embedded-service.js');
    return embeddedPlace(config, flags, verbose);
  };
}

/** Before the libraries are loaded, which fail without a reason. */
function refuseSmallMemory(): void {
  const shortage = memoryShortage();
  if (shortage !== null) throw new ConfigError(shortage);
}

function refuseWithService(flags: CommandFlags): void {
  const [setting] = givenSettings(flags);
  if (setting !== undefined) {
    throw new UsageError(
      `${setting} is a setting of this machine: the service of --service has its own.`,
    );
  }
}

function formatList(text: string, before: ExportFormat[] = []): ExportFormat[] {
  const format = EXPORT_FORMATS.find((each) => each === text);
  if (format !== undefined) return [...new Set([...before, format])];
  throw new InvalidArgumentError(`Allowed choices are ${EXPORT_FORMATS.join(', ')}.`);
}
