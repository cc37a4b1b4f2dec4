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
  sentencePart,
  wholeNumber,
  withFlags,
} from '../command-options.js';

export interface JobFlags extends Partial<DetectionParameters> {
  type: JobSubmit['job_type'];
  model?: string;
  classes?: string[];
  vehicleTypes?: string[];
  /** JSON of an object. */
  metadata?: string;
}

const FLAG_ROWS = withFlags(FIELD_ROWS);

export function addJobFlags(command: Command): Command {
  command
    .addOption(
      new Option('-t, --type <type>', 'what to look for')
        .choices(JOB_TYPES)
        .default('detect_vehicles'),
    )
    .option('-m, --model <name>', 'name of a model that the service has, with or without .pt');
  addParameterFlags(command, { withDefaults: false })
    .option('--classes <names>', "classes of the model, comma-separated; '*' for all", nameList)
    .addOption(
      new Option('--vehicle-types <names>', 'the same for detect_vehicles jobs only')
        .argParser(nameList)
        .conflicts('classes'),
    );
  for (const row of FLAG_ROWS) command.addOption(optionOf(row));
  return command.option(
    '--metadata <json>',
    'JSON object that is returned with the result',
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
    const text = `0 to ${row.most}; ${row.text}`;
    return new Option(row.flag, text).argParser(wholeNumber(0, row.most));
  }
  const option = new Option(row.flag, sentencePart(row.text));
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
