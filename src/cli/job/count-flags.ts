/** Flags of the commands that count images. */
import { Option, type Command } from 'commander';
import { EVENT_GAP_S, type Grouping } from '../../api/job-values.js';
import { OUTPUT_FLAG } from '../output-file.js';
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
  static: choice,
}: GroupingFlags<T>) {
  return { by, event_gap_s: eventGap, camera, static: choice };
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
    )
    .addOption(new Option('--format <format>', 'a file').choices(['csv']).conflicts('json'))
    .option(OUTPUT_FLAG, 'file for --format; default, and -: standard output');
  return addQuestionFlags(addStandingFlags(command, '--by event or '));
}
