import { describe, expect, test } from 'vitest';
import { wrapParagraphs } from '../../src/cli/help-groups.js';
import { createProgram } from '../../src/cli/run-cli.js';
import { runOn } from './run.js';

const HELP_TERMS = /^ {2}(?:-\w, )?--([\w-]+)/gm;

async function helpOf(words: readonly string[], columns = 80): Promise<string> {
  return (await runOn({ isScreen: true, columns }, ...words, '--help')).out;
}

/** Headings of the help and the flags beneath each. */
function groupsOf(help: string): Map<string, string[]> {
  const blocks = [...help.matchAll(/^([A-Z][^\n]*:)\n((?: {2}.*\n)+)/gm)];
  return new Map(
    blocks.map(([, heading = '', block = '']) => [
      heading,
      [...block.matchAll(HELP_TERMS)].map(([, flag = '']) => flag),
    ]),
  );
}

const LONG = [
  ['run'],
  ['detect'],
  ['serve'],
  ['job', 'submit'],
  ['job', 'counts'],
  ['watch', 'add'],
];

describe('the help of commands with many options', () => {
  test.each(LONG)('%s %s: each option stands under a heading of its row', async (...words) => {
    const groups = groupsOf(await helpOf(words));
    expect([...groups.keys()]).not.toContain('Options:');
    // A new option needs its place in the rows of src/cli/help-groups.ts.
    expect(groups.get('Other:')?.filter((flag) => !['help', 'config'].includes(flag))).toEqual([]);
    expect([...groups.keys()].indexOf('Other:')).toBeGreaterThan(
      [...groups.keys()].indexOf('What to find:'),
    );
  });

  test('a command with few options shows one list', async () => {
    expect([...groupsOf(await helpOf(['job', 'status'])).keys()]).toEqual(
      expect.arrayContaining(['Options:']),
    );
  });

  test('a flag may have another place in one command', async () => {
    const places = groupsOf(await helpOf(['places']));
    expect(places.get('What to look at:')).toContain('tag');
    const submit = groupsOf(await helpOf(['job', 'submit']));
    expect(submit.get('What people call the job:')).toContain('tag');
  });
});

test('the help of the program says what each command is for, by what people want', async () => {
  const help = await helpOf([]);
  expect(help).toMatch(/without a service:\n {2}run [^]*Run a service:\n {2}serve /);
  expect(help).toMatch(/Use a running service:\n {2}job [^]*Models:\n {2}model /);
});

function commandsBeneath(words: readonly string[], command = createProgram(SILENT)): string[][] {
  return [
    [...words],
    ...command.commands.flatMap((each) => commandsBeneath([...words, each.name()], each)),
  ];
}

const ignore = () => undefined;
const SILENT = {
  out: ignore,
  err: ignore,
  write: () => Promise.resolve(),
  isScreen: false,
  setExitCode: ignore,
};

test.each([80, 120])(
  'every help fits %d columns; commands to copy are not broken',
  async (columns) => {
    for (const words of commandsBeneath([])) {
      const lines = (await helpOf(words, columns)).split('\n');
      const isCommand = (line: string) => /^ {2}(?:\$|-|\S+ \[)/.test(line) || /\S{60}/.test(line);
      const tooLong = lines.filter((line) => line.length > columns && !isCommand(line));
      expect(tooLong, words.join(' ')).toEqual([]);
    }
  },
);

test('paragraphs are wrapped, lines that are indented stay', () => {
  const text = 'One two three\nfour.\nFive six seven\n\n  $ one two three four five six';
  expect(wrapParagraphs(text, 14)).toBe(
    'One two three\nfour.\nFive six seven\n\n  $ one two three four five six',
  );
  expect(wrapParagraphs(text, 40)).toBe(
    'One two three four.\nFive six seven\n\n  $ one two three four five six',
  );
});
