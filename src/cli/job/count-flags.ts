/** Flags of the commands that count images. */
import { Option, type Command } from 'commander';
import { EVENT_CAMERAS, EVENT_GAP_S, type Grouping } from '../../api/job-values.js';
import { OUTPUT_FLAG } from '../output-file.js';
import { wholeNumber } from '../command-options.js';
import { addQuestionFlags } from './question-flags.js';

export interface GroupingFlags<T extends Grouping> {
  by: T;
  eventGap?: number;
  camera?: (typeof EVENT_CAMERAS)[number];
}

/** The parameters of the flags. */
export function groupingOf<T extends Grouping>({ by, eventGap, camera }: GroupingFlags<T>) {
  return { by, event_gap_s: eventGap, camera };
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
    .addOption(
      new Option(
        '--camera <which>',
        `with --by event: pictures are of one camera when they lie in one folder, or all are (${EVENT_CAMERAS[0]})`,
      ).choices(EVENT_CAMERAS),
    )
    .addOption(new Option('--format <format>', 'a file').choices(['csv']).conflicts('json'))
    .option(OUTPUT_FLAG, 'file for --format; default, and -: standard output');
  return addQuestionFlags(command);
}
