/** Flags of the commands that count images. */
import { Option, type Command } from 'commander';
import { EVENT_GAP_S, type Grouping } from '../../api/job-values.js';
import { addCsvFlags } from '../csv-output.js';
import { wholeNumber } from '../command-options.js';
import { addQuestionFlags, addStandingFlags, type StandingFlags } from './question-flags.js';

export interface GroupingFlags<T extends Grouping> extends StandingFlags {
  by: T;
  eventGap?: number;
}

/** The parameters of the flags. */
export function groupingOf<T extends Grouping>({
  by,
  eventGap,
  camera,
  cameraPattern,
  static: choice,
}: GroupingFlags<T>) {
  return { by, event_gap_s: eventGap, camera, camera_pattern: cameraPattern, static: choice };
}

export function addCountFlags(command: Command, groupings: readonly Grouping[]): Command {
  command
    .addOption(
      new Option('--by <what>', 'what is counted together').choices(groupings).default('hour'),
    )
    .addOption(
      new Option(
        '--event-gap <seconds>',
        `with --by event: pictures of one camera with at most so much time between them are one event (${EVENT_GAP_S.default})`,
      ).argParser(wholeNumber(0, EVENT_GAP_S.most)),
    );
  return addQuestionFlags(addStandingFlags(addCsvFlags(command), '--by event or '));
}

export interface HourFlags {
  from?: string;
  to?: string;
}

export function addHourFlags(command: Command): Command {
  return command
    .option('--from <time>', 'the first hour of the pictures: 2025-11-26 or 2025-11-26T14:00')
    .option('--to <time>', 'the hour after the last one');
}
