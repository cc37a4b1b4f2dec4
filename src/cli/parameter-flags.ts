/** Flags of the detection parameters, from their rows. */
import { Option, type Command } from 'commander';
import { PARAMETER_ROWS, type ParameterRow } from '../api/options.js';
import { snake } from '../api/snake-case.js';
import { fraction, wholeNumber } from './option-values.js';

/** `withDefaults`: the command has the defaults of the service; else the service has them. */
export function addParameterFlags(command: Command, { withDefaults }: { withDefaults: boolean }) {
  for (const row of PARAMETER_ROWS) {
    const option = toOption(row);
    command.addOption(withDefaults ? option.default(row.default) : option);
  }
  return command;
}

function toOption(row: ParameterRow): Option {
  const short = row.shortFlag === undefined ? '' : `-${row.shortFlag}, `;
  const flag = `${short}--${snake(row.name).replaceAll('_', '-')}`;
  const text = `${row.text.charAt(0).toLowerCase()}${row.text.slice(1)}`;
  switch (row.kind) {
    case 'switch':
      return new Option(flag, text);
    case 'fraction':
      return new Option(`${flag} <number>`, text).argParser(fraction);
    case 'count':
      return new Option(`${flag} <number>`, `${text}, 1 to ${row.most}`).argParser(
        wholeNumber(1, row.most),
      );
  }
}
