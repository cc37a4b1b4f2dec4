/** Settings of a job as flags: of a submission and of a watch. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { isObject } from '../../api/json-object.js';
import { toWireParameters, type DetectionParameters } from '../../api/options.js';
import type { JobSubmit } from '../../client/lattice-client.js';
import { JOB_TYPES } from '../../api/job-values.js';
import { FIELD_ROWS } from '../../api/submission-fields.js';
import { withSuffix } from '../../models/model-folder.js';
import {
  addParameterFlags,
  givenFlags,
  nameList,
  wholeNumber,
  withFlags,
} from '../command-options.js';
import { flagText } from '../flag-texts.js';

export interface JobFlags extends Partial<DetectionParameters> {
  type: JobSubmit['job_type'];
  model?: string;
  classes?: string[];
  vehicleTypes?: string[];
  /** JSON of an object. */
  metadata?: string;
}

const FLAG_ROWS = withFlags(FIELD_ROWS);

/** `isRun`: the command tells of the end of its jobs, and no webhook does. */
export function addJobFlags(command: Command, { isRun = false } = {}): Command {
  command
    .addOption(
      new Option(
        '-t, --type <type>',
        'cars, vehicles (cars, motorcycles, buses and trucks), or all that the model knows: batch_detect',
      )
        .choices(JOB_TYPES)
        .default('detect_vehicles'),
    )
    .option('-m, --model <name>', 'model to use, by the name that `lattice model list` shows');
  addParameterFlags(command, { withDefaults: false })
    .option(
      '--classes <names>',
      "what to keep of what the model knows, such as car,bus; '*' for all",
      nameList,
    )
    .addOption(
      new Option('--vehicle-types <names>', 'the same for detect_vehicles jobs only')
        .argParser(nameList)
        .conflicts('classes'),
    );
  for (const row of FLAG_ROWS) {
    if (!isRun || row.name !== 'callbackUrl') command.addOption(optionOf(row));
  }
  return command.option(
    '--metadata <json>',
    'facts of yours that come back with the result, as a JSON object',
    jsonObject,
  );
}

/** The settings of a submission without images and without `metadata`, which is JSON text. */
export function settingsOf(flags: JobFlags): Omit<JobSubmit, 'image_paths' | 'metadata'> {
  const { type, model, classes, vehicleTypes } = flags;
  return {
    job_type: type,
    model_name: model === undefined ? model : withSuffix(model),
    ...toWireParameters(flags),
    classes,
    vehicle_types: vehicleTypes,
    ...givenFlags(FLAG_ROWS, flags),
  };
}

function optionOf(row: (typeof FLAG_ROWS)[number]): Option {
  if (row.kind === 'number') {
    return new Option(row.flag, flagText(row)).argParser(wholeNumber(0, row.most));
  }
  const option = new Option(row.flag, flagText(row));
  return row.kind === 'choice' ? option.choices(row.values) : option;
}

/** Gives the text. */
function jsonObject(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`It is no JSON: ${(error as Error).message}.`);
  }
  if (isObject(value)) return text;
  throw new InvalidArgumentError('It must be a JSON object.');
}
