/** Flags of the commands that count images. */
import { Option, type Command } from 'commander';
import type { Grouping } from '../../api/job-values.js';
import { OUTPUT_FLAG } from '../output-file.js';
import { addQuestionFlags } from './question-flags.js';

export function addCountFlags(command: Command, groupings: readonly Grouping[]): Command {
  command
    .addOption(
      new Option('--by <what>', 'what is counted together').choices(groupings).default('hour'),
    )
    .addOption(new Option('--format <format>', 'a file').choices(['csv']).conflicts('json'))
    .option(OUTPUT_FLAG, 'file for --format; default, and -: standard output');
  return addQuestionFlags(command);
}
