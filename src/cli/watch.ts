/** `lattice watch`: watched folders of a running service, over its HTTP API. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { timesOf, type ScheduledTime } from '../api/watch-times.js';
import { EVENT_GAP_S } from '../api/job-values.js';
import { EXISTING_FILES } from '../store/watched.js';
import { SCOPE_GROUPINGS } from '../api/job-values.js';
import { numberThat, serviceCommand, wholeNumber } from './command-options.js';
import { refuseUnusedOutput } from './export-output.js';
import { addCountFlags, addHourFlags } from './job/count-flags.js';
import type { WatchCountsFlags } from './job/counting.js';
import { addJobFlags } from './job/job-flags.js';
import type { AccessFlags } from './job/open-client.js';
import type { AddFlags } from './watch/watched-folders.js';
import type { RegisterCommand, Terminal } from './terminal.js';

const EXAMPLES = `
The service and its key are found as for \`lattice job\`. A watch submits images that come into its folders, each version
of a file once, as jobs that \`lattice job list --watch NAME\` shows.
Exit code: 0 done; 1 the service refuses or is not there; 2 the command line is wrong.

Examples:
  $ lattice watch add north-gate cameras/north --model own --classes car,truck
  $ lattice watch add depot 'depot/**/*.jpg' --existing leave --schedule mon-fri@06:00-20:00
  $ lattice watch list
  $ lattice watch counts north-gate --from 2025-11-01 --by day
  $ lattice watch pause north-gate
  $ lattice watch remove north-gate`;

export const registerWatch: RegisterCommand = (program, terminal) => {
  const watch = program
    .command('watch')
    .description('watch folders of a running service: new images become jobs')
    .addHelpText('after', EXAMPLES);
  registerAdd(watch, terminal);
  serviceCommand(watch, {
    name: 'list',
    description: 'watched folders, by name',
    json: 'print one JSON array',
    calls: ['--json'],
  }).action(async (flags: AccessFlags) => {
    const { listWatches } = await import('./watch/watched-folders.js');
    await listWatches(flags, terminal);
  });
  named(watch, 'show', 'what a watch sees and has done', async (name, flags) => {
    const { showWatch } = await import('./watch/watched-folders.js');
    await showWatch(name, flags, terminal);
  });
  for (const [verb, isPaused, description] of [
    ['pause', true, 'submit nothing until it is resumed; files wait in the folder'],
    ['resume', false, 'go on, also with files that came meanwhile'],
  ] as const) {
    named(watch, verb, description, async (name, flags) => {
      const { pauseWatch } = await import('./watch/watched-folders.js');
      await pauseWatch(name, isPaused, flags, terminal);
    });
  }
  registerCounts(watch, terminal);
  named(watch, 'cameras', 'its cameras, and what is wrong with them', async (name, flags) => {
    const { listCameras } = await import('./watch/watched-folders.js');
    await listCameras(name, flags, terminal);
  });
  named(watch, 'remove', 'end a watch; its jobs stay', async (name, flags) => {
    const { removeWatch } = await import('./watch/watched-folders.js');
    await removeWatch(name, flags, terminal);
  });
};

function named(
  parent: Command,
  verb: string,
  description: string,
  act: (name: string, flags: AccessFlags) => Promise<void>,
): void {
  serviceCommand(parent, {
    name: verb,
    description,
    json: 'print its record',
    calls: ['north-gate'],
  })
    .argument('<name>', 'of the watch')
    .action(act);
}

function registerCounts(parent: Command, terminal: Terminal): void {
  const counts = serviceCommand(parent, {
    name: 'counts',
    description:
      'images and boxes of a watch by hour, day, folder, folder and hour (also of removed results) or event',
    json: 'print them as JSON',
    calls: [
      'north-gate --from 2025-11-01 --to 2025-12-01 --by day',
      'north-gate --view gate-2 --format csv -o counts.csv',
    ],
  })
    .argument('<name>', 'of the watch')
    .action(async (name: string, flags: WatchCountsFlags) => {
      refuseUnusedOutput(flags);
      const { showWatchCounts } = await import('./job/counting.js');
      await showWatchCounts(name, flags, terminal);
    });
  addCountFlags(addHourFlags(counts), SCOPE_GROUPINGS);
}

function registerAdd(parent: Command, terminal: Terminal): void {
  const add = serviceCommand(parent, {
    name: 'add',
    description: 'watch folders',
    json: 'print its record',
    calls: [
      'north-gate cameras/north --type detect_cars',
      "depot 'depot/**/*.jpg' --existing leave --schedule 06:00-20:00",
    ],
  })
    .argument('<name>', 'letters, digits and _ - .')
    .argument('<path...>', 'folders or globs as the service sees them; quote a glob')
    .addOption(
      new Option('--existing <what>', 'files that lie there already').choices(EXISTING_FILES),
    )
    .option('--settle <seconds>', 'how long a file rests before it counts', seconds)
    .option('--interval <seconds>', 'between two scans of the folders', seconds)
    .option('--batch <number>', 'most images per job', wholeNumber(1, 10_000))
    .option('--max-wait <seconds>', 'how long the first file waits for others', seconds)
    .option(
      '--schedule <times>',
      'when it works, as 06:00-20:00 or mon-fri@06:00-20:00,sat@08:00-12:00',
      schedule,
    )
    .option('--camera-health', 'tell when a camera is covered, moved, blurred, frozen or late')
    .option(
      '--event-gap <seconds>',
      'tell once of pictures of a camera that show a vehicle and follow each other within so long',
      wholeNumber(0, EVENT_GAP_S.most),
    )
    .option('--paused', 'begin paused');
  addJobFlags(add).action(async (name: string, paths: string[], flags: AddFlags) => {
    const { addWatch } = await import('./watch/watched-folders.js');
    await addWatch(name, paths, flags, terminal);
  });
}

const seconds = numberThat('0 or a larger number of seconds', (value) => value >= 0);

function schedule(text: string): ScheduledTime[] {
  try {
    return timesOf(text);
  } catch (error) {
    throw new InvalidArgumentError((error as RangeError).message);
  }
}
