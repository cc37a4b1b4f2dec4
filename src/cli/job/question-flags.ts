/** Flags of commands that read a job: another question of the boxes that it keeps. */
import { Option, type Command } from 'commander';
import { CAMERAS, STATIC_CHOICES, type StaticChoice } from '../../api/job-values.js';
import { toWireParameters, type DetectionParameters } from '../../api/options.js';
import { QUESTION_ROWS } from '../../api/question.js';
import type { JobQuestion, ResultOptions } from '../../client/lattice-client.js';
import { addParameterFlags, nameList } from '../command-options.js';

export interface StandingFlags {
  static?: StaticChoice;
  camera?: (typeof CAMERAS)[number];
}

/** `needs`: what `--camera` goes with, beside `--static`. */
export function addStandingFlags(command: Command, needs = ''): Command {
  return command
    .addOption(
      new Option(
        '--static <which>',
        `vehicles that stand in several pictures of a camera (${STATIC_CHOICES[0]})`,
      ).choices(STATIC_CHOICES),
    )
    .addOption(cameraOption(`with ${needs}--static: `));
}

/** `when`: in which case it says anything. */
export function cameraOption(when = ''): Option {
  const text = `pictures are of one camera when they lie in one folder, or all are (${CAMERAS[0]})`;
  return new Option('--camera <which>', `${when}${text}`).choices(CAMERAS);
}

export interface QuestionFlags extends Partial<DetectionParameters> {
  classes?: string[];
}

/** A result is asked for by these. */
export type AskedFlags = QuestionFlags & StandingFlags;

export function askedOf({ static: choice, camera, ...flags }: AskedFlags): ResultOptions {
  return { question: questionOf(flags), static: choice, camera };
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
