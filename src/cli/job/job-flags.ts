/** Settings of a job as flags: of a submission and of a watch. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { TOP_PRIORITY, viewParameters, type DetectionParameters } from '../../api/options.js';
import type { JobSubmit } from '../../client/lattice-client.js';
import { JOB_TYPES, REUSE_MODES, type ReuseMode } from '../../api/jobs.js';
import { withSuffix } from '../../models/model-folder.js';
import { addParameterFlags, nameList, wholeNumber } from '../command-options.js';

export interface JobFlags extends Partial<DetectionParameters> {
  type: JobSubmit['job_type'];
  model?: string;
  classes?: string[];
  vehicleTypes?: string[];
  priority?: number;
  reuse?: ReuseMode;
  callbackUrl?: string;
  /** JSON of an object. */
  metadata?: string;
}

export function addJobFlags(command: Command): Command {
  command
    .addOption(
      new Option('-t, --type <type>', 'what to look for')
        .choices(JOB_TYPES)
        .default('detect_vehicles'),
    )
    .option('-m, --model <name>', 'name of a model that the service has, with or without .pt');
  return addParameterFlags(command, { withDefaults: false })
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
    .option('--metadata <json>', 'JSON object that is returned with the result', jsonObject);
}

/** As in a submission, without its images and without `metadata`, which is JSON text. */
export function settingsOf(flags: JobFlags): Omit<JobSubmit, 'image_paths' | 'metadata'> {
  const { type, model, classes, vehicleTypes, priority, reuse, callbackUrl } = flags;
  return {
    job_type: type,
    model_name: model === undefined ? model : withSuffix(model),
    ...viewParameters(flags),
    classes,
    vehicle_types: vehicleTypes,
    priority,
    reuse,
    callback_url: callbackUrl,
  };
}

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
