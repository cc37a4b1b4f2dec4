/** `lattice job`: jobs of a running service, over its HTTP API. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { TOP_PRIORITY } from '../api/options.js';
import { GROUPINGS, JOB_STATUSES, JOB_TYPES, REUSE_MODES } from '../jobs/job.js';
import {
  addParameterFlags,
  examples,
  nameList,
  numberThat,
  wholeNumber,
} from './command-options.js';
import { addExportFlags, checkExportFlags, type ExportFlags } from './export-output.js';
import type { CountsFlags } from './job/counting.js';
import type { AccessFlags } from './job/open-client.js';
import type { ListFlags } from './job/showing.js';
import type { SubmitFlags, WatchFlags } from './job/watching.js';
import { UsageError, type RegisterCommand, type Terminal } from './terminal.js';

const EXAMPLES = `
The service is that of --url, else of LATTICE_CORE_API_URL, else http://127.0.0.1:8000. Where it has API keys, the key
comes from --api-key-file or from LATTICE_API_KEY.
Exit code of submit --wait, watch, status and result: 0 the job is completed (for status, or has yet to end);
3 it is completed, but some of its images failed: the reasons are printed; 1 it failed. Of all: 1 the service refuses
or is not there; 2 the command line is wrong; 130 Ctrl-C, and the job goes on.

Examples:
  $ lattice job submit street.jpg --type detect_cars --wait
  $ lattice job submit depot.jpg --model own --classes car_ahead,stop_sign
  $ JOB=$(lattice job submit '2026/**/*.jpg' --priority 5)
  $ lattice job watch $JOB
  $ lattice job result $JOB --json > boxes.json
  $ lattice job result $JOB --format coco -o boxes.coco.json
  $ lattice job counts $JOB --by hour --format csv -o counts.csv
  $ lattice job list --status pending,running
  $ lattice job retry $JOB
  $ lattice job cancel $JOB`;

export const registerJob: RegisterCommand = (program, terminal) => {
  const job = program
    .command('job')
    .description('submit, list, watch, retry and cancel jobs of a running service')
    .addHelpText('after', EXAMPLES);
  registerSubmit(job, terminal);
  registerList(job, terminal);
  registerStatus(job, terminal);
  registerResult(job, terminal);
  registerCounts(job, terminal);
  registerWatch(job, terminal);
  registerRetry(job, terminal);
  registerCancel(job, terminal);
};

function command(
  parent: Command,
  name: string,
  description: string,
  json: string,
  calls: readonly string[],
): Command {
  return parent
    .command(name)
    .description(description)
    .option('--url <address>', 'of the service, http://HOST:8000')
    .option('--api-key-file <file>', 'file with the API key')
    .option('--json', json)
    .addHelpText('after', examples(...calls.map((call) => `job ${name} ${call}`)));
}

function registerSubmit(parent: Command, terminal: Terminal): void {
  const submit = command(
    parent,
    'submit',
    'queue images as one job; prints its id',
    'print its records',
    [
      'street.jpg --type detect_cars --wait',
      "'2026/**/*.jpg' --model depot --classes car_ahead,stop_sign --priority 5",
    ],
  )
    .argument(
      '<path...>',
      "images, folders or globs as the service sees them, beneath its image folders; quote a glob to have the service's files",
    )
    .addOption(
      new Option('-t, --type <type>', 'what to look for')
        .choices(JOB_TYPES)
        .default('detect_vehicles'),
    )
    .option('-m, --model <name>', 'name of a model that the service has, with or without .pt');
  addParameterFlags(submit, { withDefaults: false })
    .option('--classes <names>', "classes of the model, comma-separated; '*' for all", nameList)
    .addOption(
      new Option('--vehicle-types <names>', 'the same for detect_vehicles jobs only')
        .argParser(nameList)
        .conflicts('classes'),
    )
    .option(
      '-p, --priority <number>',
      `0 to ${TOP_PRIORITY}, higher first`,
      wholeNumber(0, TOP_PRIORITY),
    )
    .addOption(
      new Option(
        '--reuse <which>',
        'images that take over a stored result and do not run: those of unchanged files, or of the same bytes',
      ).choices(REUSE_MODES),
    )
    .option('--callback-url <url>', 'webhook URL that receives the result')
    .option('--metadata <json>', 'JSON object that is returned with the result', jsonObject)
    .option('-w, --wait', 'show the progress until the job has ended')
    .option('--timeout <seconds>', 'stop waiting after this time; the job goes on', seconds)
    .action(async (paths: string[], flags: SubmitFlags) => {
      const { submitJob } = await import('./job/watching.js');
      await submitJob(paths, flags, terminal);
    });
}

function registerList(parent: Command, terminal: Terminal): void {
  command(parent, 'list', 'jobs, newest first', 'print one JSON array', [
    '--status pending,running --limit 50',
  ])
    .option('-s, --status <names>', `only these: ${JOB_STATUSES.join(', ')}`, statuses)
    .addOption(new Option('-t, --type <type>', 'only this type').choices(JOB_TYPES))
    .option('-n, --limit <number>', 'most jobs to show', wholeNumber(1, 1_000_000), 20)
    .action(async (flags: ListFlags) => {
      const { listJobs } = await import('./job/showing.js');
      await listJobs(flags, terminal);
    });
}

function registerStatus(parent: Command, terminal: Terminal): void {
  command(parent, 'status', 'how far a job is', 'print its status record', ['job_AaH_VN9D'])
    .argument('<job>', 'its id')
    .action(async (jobId: string, flags: AccessFlags) => {
      const { showStatus } = await import('./job/showing.js');
      await showStatus(jobId, flags, terminal);
    });
}

function registerResult(parent: Command, terminal: Terminal): void {
  const result = command(
    parent,
    'result',
    'boxes of a job that has ended',
    'print its result record',
    ['job_AaH_VN9D --json > boxes.json', 'job_AaH_VN9D --format coco -o boxes.coco.json'],
  )
    .argument('<job>', 'its id')
    .action(async (jobId: string, flags: AccessFlags & ExportFlags) => {
      checkExportFlags(flags, terminal);
      const { exportResult, showResult } = await import('./job/showing.js');
      if (flags.format === undefined) await showResult(jobId, flags, terminal);
      else await exportResult(jobId, flags.format, flags, terminal);
    });
  addExportFlags(result);
}

function registerCounts(parent: Command, terminal: Terminal): void {
  command(
    parent,
    'counts',
    'images and boxes of a job by image, folder, hour or day, as far as it is',
    'print them as JSON',
    ['job_AaH_VN9D --by hour', 'job_AaH_VN9D --by day --format csv -o counts.csv'],
  )
    .argument('<job>', 'its id')
    .addOption(
      new Option('--by <what>', 'what is counted together').choices(GROUPINGS).default('hour'),
    )
    .addOption(new Option('--format <format>', 'a file').choices(['csv']).conflicts('json'))
    .option('-o, --output <file>', 'file for --format; default: standard output')
    .action(async (jobId: string, flags: CountsFlags) => {
      if (flags.format === undefined && flags.output !== undefined) {
        throw new UsageError('-o is the file of --format: name a format.');
      }
      const { showCounts } = await import('./job/counting.js');
      await showCounts(jobId, flags, terminal);
    });
}

function registerWatch(parent: Command, terminal: Terminal): void {
  command(
    parent,
    'watch',
    'follow a job to its end, or the events of all jobs',
    'print one JSON object per line',
    ['job_AaH_VN9D --timeout 600', '--json > events.ndjson'],
  )
    .argument('[job]', 'its id; without one, all jobs until Ctrl-C')
    .option('--timeout <seconds>', 'stop waiting after this time; the job goes on', seconds)
    .action(async (jobId: string | undefined, flags: WatchFlags) => {
      const { watchAll, watchJob } = await import('./job/watching.js');
      if (jobId === undefined) await watchAll(flags, terminal);
      else await watchJob(jobId, flags, terminal);
    });
}

function registerRetry(parent: Command, terminal: Terminal): void {
  command(
    parent,
    'retry',
    'run again, as a new job, the images of an ended job that failed or were not run; prints its id',
    'print its record',
    ['job_AaH_VN9D'],
  )
    .argument('<job>', 'id of the job whose failed images are run again')
    .action(async (jobId: string, flags: AccessFlags) => {
      const { retryJob } = await import('./job/showing.js');
      await retryJob(jobId, flags, terminal);
    });
}

function registerCancel(parent: Command, terminal: Terminal): void {
  command(parent, 'cancel', 'end a job; it counts as failed', 'print its status record', [
    'job_AaH_VN9D',
  ])
    .argument('<job>', 'its id')
    .action(async (jobId: string, flags: AccessFlags) => {
      const { cancelJob } = await import('./job/showing.js');
      await cancelJob(jobId, flags, terminal);
    });
}

function statuses(text: string): string[] {
  const given = nameList(text);
  const wrong = given.find((name) => !(JOB_STATUSES as readonly string[]).includes(name));
  if (wrong === undefined) return given;
  throw new InvalidArgumentError(`'${wrong}' is none of ${JOB_STATUSES.join(', ')}.`);
}

const seconds = numberThat('a number of seconds above 0', (value) => value > 0);

/** Gives the text. */
function jsonObject(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`It is no JSON: ${(error as Error).message}.`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return text;
  throw new InvalidArgumentError('It must be a JSON object.');
}
