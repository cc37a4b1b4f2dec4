/** Filters of jobs as flags, from their rows. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { FILTER_ROWS } from '../../api/job-filters.js';
import type { JobFilter } from '../../client/lattice-client.js';
import { givenFlags, nameList, withFlags } from '../command-options.js';
import { sentencePart } from '../flag-texts.js';

const ROWS = withFlags(FILTER_ROWS);

export function addFilterFlags(command: Command): Command {
  for (const row of ROWS) command.addOption(optionOf(row));
  return command;
}

export const givenFilter = (flags: object): JobFilter => givenFlags(ROWS, flags);

function optionOf(row: (typeof ROWS)[number]): Option {
  const option = new Option(row.flag, `only ${sentencePart(row.text)}`);
  if (row.kind === 'one') return option.choices(row.values);
  return row.kind === 'several' ? option.argParser(someOf(row.values)) : option;
}

const someOf = (values: readonly string[]) => (text: string) => {
  const given = nameList(text);
  const wrong = given.find((name) => !values.includes(name));
  if (wrong === undefined) return given;
  throw new InvalidArgumentError(`'${wrong}' is none of ${values.join(', ')}.`);
};
