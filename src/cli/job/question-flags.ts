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
  cameraPattern?: string;
}

/** `needs`: what `--camera` goes with, beside `--static`. */
export function addStandingFlags(command: Command, needs = ''): Command {
  return addCameraFlags(
    command.addOption(
      new Option(
        '--static <which>',
        `vehicles that stand in several pictures of a camera (${STATIC_CHOICES[0]})`,
      ).choices(STATIC_CHOICES),
    ),
    `with ${needs}--static: `,
  );
}

/** `when`: in which case they say anything. */
export function addCameraFlags(command: Command, when = ''): Command {
  const text = `pictures are of one camera when they lie in one folder, or all are, or by their names (${CAMERAS[0]})`;
  return command
    .addOption(new Option('--camera <which>', `${when}${text}`).choices(CAMERAS))
    .option(
      '--camera-pattern <pattern>',
      "with --camera name: how a name says the camera, as '{camera}_*.jpg'",
    );
}

export interface QuestionFlags extends Partial<DetectionParameters> {
  classes?: string[];
}

/** A result is asked for by these. */
export type AskedFlags = QuestionFlags & StandingFlags;

export function askedOf(asked: AskedFlags): ResultOptions {
  const { static: choice, camera, cameraPattern, ...flags } = asked;
  return { question: questionOf(flags), static: choice, camera, cameraPattern };
}

export function addQuestionFlags(command: Command): Command {
  addParameterFlags(command, { withDefaults: false, rows: QUESTION_ROWS });
  return command.option(
    '--classes <names>',
    "what to keep of what the model knows, such as car,bus; '*' for all",
    nameList,
  );
}

/** Options that no flag names are as the job asked. */
export function questionOf({ classes, ...flags }: QuestionFlags): JobQuestion {
  return { ...toWireParameters(flags), ...(classes && { classes }) };
}
