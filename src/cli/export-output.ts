/** The flags of a command that exports: a format, and where the file goes. */
import { Option, type Command } from 'commander';
import { FORMATS, RESULT_FORMATS, type ResultFormat } from '../export/formats.js';
import { STANDARD_OUTPUT } from '../base/output-place.js';
import { OUTPUT_FLAG } from './output-file.js';
import { UsageError, type Terminal } from './terminal.js';

export interface ExportFlags {
  format?: ResultFormat;
  output?: string;
}

export function addExportFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--format <format>', 'as a file for other tools, see docs/exports.md')
        .choices(RESULT_FORMATS)
        .conflicts('json'),
    )
    .option(OUTPUT_FLAG, 'file for --format; default, and -: standard output');
}

/** Throws `UsageError` for a file without a format. */
export function refuseUnusedOutput({
  format,
  output,
}: {
  format?: string | undefined;
  output?: string | undefined;
}): void {
  if (format === undefined && output !== undefined) {
    throw new UsageError('-o is the file of --format: name a format.');
  }
}

/** Throws `UsageError` for options that do not fit together. */
export function checkExportFlags({ format, output }: ExportFlags, terminal: Terminal): void {
  refuseUnusedOutput({ format, output });
  const binary = format === undefined || format === 'json' ? undefined : FORMATS[format].binary;
  if (binary !== undefined) refuseOnScreen({ output }, `${format} ${binary}`, terminal);
}

/** Throws `UsageError`; `what` is a clause such as `crops are a zip archive`. */
export function refuseOnScreen(
  { output }: { output?: string | undefined },
  what: string,
  { isScreen }: Terminal,
): void {
  const isPrinted = output === undefined || output === STANDARD_OUTPUT;
  if (isPrinted && isScreen) {
    throw new UsageError(
      `${what}, which a terminal cannot show: name a file with -o, or redirect the output.`,
    );
  }
}
