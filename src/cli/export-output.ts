/** Where an export goes: to a file, or to standard output. */
import { open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Option, type Command } from 'commander';
import { RESULT_FORMATS, type ResultFormat } from '../export/formats.js';
import { isPathError, pathFault } from '../base/path-fault.js';
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
    .option('-o, --output <file>', 'file for --format; default: standard output');
}

/** Throws `UsageError` for options that do not fit together. */
export function checkExportFlags({ format, output }: ExportFlags, terminal: Terminal): void {
  if (format === undefined && output !== undefined) {
    throw new UsageError('-o is the file of --format: name a format.');
  }
  if (format === 'yolo' && output === undefined && terminal.isScreen) {
    throw new UsageError(
      'yolo is a zip archive, which a terminal cannot show: name a file with -o, or redirect the output.',
    );
  }
}

/** The file is there once it is complete: until then it is called FILE.part. Rejects with `UsageError` if it cannot be written. */
export async function writeExport(
  pieces: AsyncIterable<string | Uint8Array>,
  output: string | undefined,
  terminal: Terminal,
): Promise<void> {
  if (output === undefined) {
    for await (const piece of pieces) await terminal.write(piece);
    return;
  }
  const part = `${output}.part`;
  try {
    // Opened first: where that fails, nothing is taken from `pieces`.
    const file = await open(part, 'w');
    await pipeline(pieces, file.createWriteStream());
    await rename(part, output);
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    throw isPathError(error) ? new UsageError(pathFault(error, output, 'write')) : error;
  }
}
