/** Parts of several commands: values of options, the detection parameters as flags, examples. */
import { readFileSync } from 'node:fs';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { LABEL_ROWS, type JobLabels, type Keep, type LabelRow } from '../api/job-labels.js';
import { OPTION_KINDS } from '../api/option-kinds.js';
import { PARAMETER_ROWS, type ParameterRow } from '../api/options.js';
import { snake } from '../api/snake-case.js';
import { pathFault } from '../base/path-fault.js';
import { FLAG_KINDS, type FlagKind } from './flag-kinds.js';
import { flagText, sentencePart } from './flag-texts.js';

/** A parser of numbers for which `holds`; `what` ends the sentence "It must be ...". */
export function numberThat(
  what: string,
  holds: (value: number) => boolean,
): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && Number.isFinite(value) && holds(value)) return value;
    throw new InvalidArgumentError(`It must be ${what}.`);
  };
}

export const fraction = numberThat('a number from 0 to 1', (value) => value >= 0 && value <= 1);

function fileText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new InvalidArgumentError(pathFault(error, path, 'read'));
  }
}

export function nameList(text: string): string[] {
  const list = text.split(',').map((name) => name.trim());
  if (list.includes('')) throw new InvalidArgumentError('It takes names separated by commas.');
  return list;
}

export function wholeNumber(least: number, most: number): (text: string) => number {
  return numberThat(
    `a whole number from ${least} to ${most}`,
    (value) => Number.isInteger(value) && value >= least && value <= most,
  );
}

/** Rows that the CLI has a flag for. */
export const withFlags = <Row extends { flag?: string }>(rows: readonly Row[]) =>
  rows.filter((row): row is Row & { flag: string } => row.flag !== undefined);

/** The given flags of the rows, by their names over HTTP. */
export function givenFlags(
  rows: readonly { flag: string; wireName: string }[],
  flags: object,
): object {
  const values = rows.map(({ flag, wireName }) => {
    const value: unknown = Reflect.get(flags, new Option(flag).attributeName());
    return [wireName, value] as const;
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** `withDefaults`: the command has the defaults of the service; else the service has them. */
export function addParameterFlags(
  command: Command,
  {
    withDefaults,
    rows = PARAMETER_ROWS,
  }: { withDefaults: boolean; rows?: readonly ParameterRow[] },
) {
  for (const row of rows) {
    const [option, ...more] = toOptions(row);
    const hasDefault = withDefaults && row.default !== null && row.ofModel !== true;
    command.addOption(hasDefault ? option.default(row.default, shownDefault(row)) : option);
    for (const each of more) command.addOption(each);
  }
  return command;
}

const shownDefault = ({ default: value }: ParameterRow): string =>
  typeof value === 'object' ? 'none' : String(value);

function toOptions(row: ParameterRow): [Option, ...Option[]] {
  const short = row.shortFlag === undefined ? '' : `-${row.shortFlag}, `;
  const flag = `${short}--${snake(row.name).replaceAll('_', '-')}`;
  const text = flagText(row);
  const { placeholder } = FLAG_KINDS[row.kind];
  if (placeholder === undefined) {
    return [new Option(flag, text), new Option(flag.replace('--', '--no-'), `not ${flag}`)];
  }
  const help = 'most' in row ? `${text}, 1 to ${row.most}` : text;
  return [new Option(`${flag} ${placeholder}`, help).argParser((given) => valueOf(row, given))];
}

function valueOf(row: ParameterRow, given: string): unknown {
  const { inFile, rule }: FlagKind<unknown> = FLAG_KINDS[row.kind];
  const isText = inFile !== true || given.trim().startsWith('[');
  const value = OPTION_KINDS[row.kind].read(isText ? given : fileText(given));
  const most = 'most' in row ? row.most : undefined;
  if (value !== null && rule?.holds(value, most) !== false) return value;
  const name = inFile !== true ? 'It' : isText ? 'The text' : given;
  throw new InvalidArgumentError(`${name} ${rule?.text(most)}.`);
}

/** Values of the flags of `addLabelFlags`, by the names of the flags. */
export type LabelFlags = Record<string, unknown>;

/** Adds the flags for the tags, the notes and the time that people set on a job. */
export function addLabelFlags(command: Command): Command {
  for (const row of LABEL_ROWS) command.addOption(toLabelOption(row));
  return command;
}

/** The given ones. */
export function givenLabels(flags: LabelFlags): Partial<JobLabels> {
  const given = LABEL_ROWS.map((row) => [row.name, flags[flagOf(row)]] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

const flagOf = ({ flag, name }: LabelRow): string => flag ?? name;

function toLabelOption(row: LabelRow): Option {
  const flag = `--${flagOf(row)}`;
  const text = sentencePart(row.text);
  switch (row.kind) {
    case 'line':
    case 'text':
      return new Option(`${flag} <text>`, text);
    case 'tags':
      return new Option(`${flag} <name>`, `${text}; may be repeated`).argParser(
        (tag: string, before: string[] | undefined) => [...(before ?? []), tag],
      );
    case 'keep':
      return new Option(
        `${flag} [days]`,
        'keep the results until the job is removed, or for so many days from now; 0: for the retention time',
      )
        .preset(true)
        .argParser(keep(row.mostDays));
  }
}

function keep(mostDays: number): (text: string | true) => Keep {
  const days = wholeNumber(0, mostDays);
  return (text) => (text === true ? true : days(text) === 0 ? false : days(text));
}

/** The end of a command's help. */
export function examples(...commands: readonly string[]): string {
  const title = commands.length === 1 ? 'Example' : 'Examples';
  return ['', `${title}:`, ...commands.map((each) => `  $ lattice ${each}`)].join('\n');
}

interface ServiceCommand {
  name: string;
  description: string;
  /** Help of `--json`. Absent: the command has none. */
  json?: string;
  /** Arguments of example calls; the help has one example for each. */
  calls: readonly string[];
}

/** Adds a command about a running service to `parent`. */
export function serviceCommand(
  parent: Command,
  { name, description, json, calls }: ServiceCommand,
): Command {
  const prefix = parent.parent === null ? '' : `${typed(parent)} `;
  const command = parent
    .command(name)
    .description(description)
    .option('--url <address>', 'where the service is, such as http://HOST:8000')
    .option('--api-key-file <file>', 'file with the API key');
  if (json !== undefined) command.option('--json', json);
  return command.addHelpText('after', examples(...calls.map((call) => `${prefix}${name} ${call}`)));
}

/** `model alias`, without the program's own name. */
function typed(command: Command): string {
  const above = command.parent;
  return above?.parent ? `${typed(above)} ${command.name()}` : command.name();
}
