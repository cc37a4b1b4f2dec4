/** Filters of jobs as flags, from their rows. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { FILTER_ROWS, type FilterRow } from '../../api/job-filters.js';
import type { JobFilter } from '../../client/lattice-client.js';
import { nameList } from '../command-options.js';

type FlagRow = FilterRow & { flag: string };

const ROWS = FILTER_ROWS.filter((row): row is FlagRow => row.flag !== undefined);

export function addFilterFlags(command: Command): Command {
  for (const row of ROWS) command.addOption(optionOf(row));
  return command;
}

/** Of the flags of a command, those that are filters. */
export function givenFilter(flags: object): JobFilter {
  const given = ROWS.map((row) => {
    const value: unknown = Reflect.get(flags, new Option(row.flag).attributeName());
    return [row.wireName, value] as const;
  });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

function optionOf(row: FlagRow): Option {
  const option = new Option(
    row.flag,
    `only ${row.text.charAt(0).toLowerCase()}${row.text.slice(1)}`,
  );
  if (row.kind === 'one') return option.choices(row.values);
  return row.kind === 'several' ? option.argParser(someOf(row.values)) : option;
}

const someOf = (values: readonly string[]) => (text: string) => {
  const given = nameList(text);
  const wrong = given.find((name) => !values.includes(name));
  if (wrong === undefined) return given;
  throw new InvalidArgumentError(`'${wrong}' is none of ${values.join(', ')}.`);
};
