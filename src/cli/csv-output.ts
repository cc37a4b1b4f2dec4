/** Answers of a service that a command prints as a table or as JSON, or writes as a CSV file. */
import { Option, type Command } from 'commander';
import { OUTPUT_FLAG, writeOutput } from './output-file.js';
import type { Terminal } from './terminal.js';

export interface CsvFlags {
  format?: 'csv';
  output?: string;
}

export function addCsvFlags(command: Command): Command {
  return command
    .addOption(new Option('--format <format>', 'a file').choices(['csv']).conflicts('json'))
    .option(OUTPUT_FLAG, 'file for --format; default, and -: standard output');
}

/** The call that gives the file, and the one that gives the same as JSON. */
interface Calls<T> {
  file: () => AsyncGenerator<Uint8Array<ArrayBuffer>, void>;
  answer: () => Promise<T>;
}

export async function printAnswer<T>(
  { file, answer }: Calls<T>,
  lines: (answer: T) => string[],
  { format, output, json }: CsvFlags & { json?: boolean },
  terminal: Terminal,
): Promise<void> {
  if (format === 'csv') {
    await writeOutput(file(), output, terminal);
    return;
  }
  const found = await answer();
  if (json === true) terminal.out(JSON.stringify(found));
  else for (const line of lines(found)) terminal.out(line);
}
