/** The examples of a page: its fenced blocks. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../support/service-process.js';

export interface Example {
  page: string;
  line: number;
  /** `` for a block without a language: commands, and the answers that are shown. */
  language: string;
  text: string;
}

export interface Command {
  text: string;
  /** The output that is shown below it; empty where none is. */
  shown: string;
}

export function examplesOf(page: string): Example[] {
  const text = readFileSync(join(PROJECT_ROOT, page), 'utf8');
  return [...text.matchAll(/^( *)```(\w*)\n([^]*?)^ *```/gm)].map((match) => ({
    page,
    line: text.slice(0, match.index).split('\n').length,
    language: match[2]!,
    text: match[3]!.replaceAll(new RegExp(`^${match[1]}`, 'gm'), ''),
  }));
}

/**
 * A command ends with its line, unless that ends with a backslash. JSON below it, up to an empty line, is its output.
 */
export function commandsOf({ text }: Example): Command[] {
  const commands: Command[] = [];
  let isOutput = false;
  let continues = false;
  for (const line of text.split('\n')) {
    isOutput = line !== '' && (isOutput || /^[{[]/.test(line));
    if (isOutput && commands.length === 0) commands.push({ text: '', shown: '' });
    if (isOutput) commands.at(-1)!.shown += `${line}\n`;
    else if (continues) commands.at(-1)!.text += `\n${line}`;
    else if (line !== '') commands.push({ text: line, shown: '' });
    continues = !isOutput && line.endsWith('\\');
  }
  return commands;
}
