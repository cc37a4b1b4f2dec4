/** Flags of commands that read a job: another question of the boxes that it keeps. */
import type { Command } from 'commander';
import { toWireParameters, type DetectionParameters } from '../../api/options.js';
import { QUESTION_ROWS } from '../../api/question.js';
import type { JobQuestion } from '../../client/lattice-client.js';
import { addParameterFlags, nameList } from '../command-options.js';

export interface QuestionFlags extends Partial<DetectionParameters> {
  classes?: string[];
}

export function addQuestionFlags(command: Command): Command {
  addParameterFlags(command, { withDefaults: false, rows: QUESTION_ROWS });
  return command.option(
    '--classes <names>',
    "classes of the model, comma-separated; '*' for all",
    nameList,
  );
}

/** Options that no flag names are as the job asked. */
export function questionOf({ classes, ...flags }: QuestionFlags): JobQuestion {
  return { ...toWireParameters(flags), ...(classes && { classes }) };
}
