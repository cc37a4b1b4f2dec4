/** The commands of the program as a shell completes them. */
import type { Argument, Command, Option } from 'commander';

/** Values that may follow: names of files or folders, one of these words, or any text. */
export type Values = 'files' | 'folders' | 'text' | readonly string[];

interface CompletedOption {
  /** `--out`, and `-o` where it has one. */
  flags: readonly string[];
  text: string;
  /** Null: no value follows. */
  values: Values | null;
}

export interface CompletedCommand {
  /** `/model/alias/set`; that of the program itself is empty. */
  path: string;
  text: string;
  /** Names of the commands beneath it. */
  names: readonly string[];
  options: readonly CompletedOption[];
  values: Values;
}

/** The command and all beneath it. */
export function completedCommands(command: Command, path = ''): CompletedCommand[] {
  const help = command.createHelp();
  const options = help.visibleOptions(command).map(completedOption);
  const { commands, registeredArguments } = command;
  const self = {
    path,
    text: command.description(),
    names: commands.map((each) => each.name()),
    options,
    values: valuesOf(registeredArguments),
  };
  return [self, ...commands.flatMap((each) => completedCommands(each, `${path}/${each.name()}`))];
}

function completedOption(option: Option): CompletedOption {
  const { short, long, description, argChoices } = option;
  const flags = [long, short].filter((flag) => flag !== undefined);
  const takes = option.required || option.optional;
  const [, placeholder = ''] = /[<[](.+?)(?:\.\.\.)?[>\]]/.exec(option.flags) ?? [];
  return { flags, text: description, values: takes ? (argChoices ?? namedBy(placeholder)) : null };
}

/** The values of the arguments together: shells complete the place of a word only in simple lines. */
function valuesOf(all: readonly Argument[]): Values {
  const choices = all.flatMap(({ argChoices }) => argChoices ?? []);
  if (choices.length > 0) return choices;
  const kinds = all.map((argument) => namedBy(argument.name()));
  return kinds.find((kind) => kind !== 'text') ?? 'text';
}

/** The placeholder of the help says what follows. */
function namedBy(placeholder: string): Values {
  const words = placeholder.split('|');
  if (words.length > 1) return words;
  if (placeholder.startsWith('folder')) return 'folders';
  return /^(?:file|path|body|headers)/.test(placeholder) ? 'files' : 'text';
}
