import { expect, test } from 'vitest';
import { consoleTerminal } from '../../src/cli/terminal.js';

/** A screen that shows both outputs. */
function screen(isTTY: boolean) {
  const shown = { text: '' };
  const output = { isTTY, write: (text: string) => (shown.text += text) };
  const terminal = consoleTerminal({ stdout: output, stderr: output }, () => undefined);
  return { shown, terminal };
}

test('a progress line is replaced by the next one and removed before other lines', () => {
  const { shown, terminal } = screen(true);
  terminal.out('before');
  terminal.progress?.('1 of 2');
  terminal.progress?.('2 of 2');
  terminal.err('after');
  terminal.out('the end');
  const clear = '\r\x1b[2K';
  expect(shown.text).toBe(`before\n${clear}1 of 2${clear}2 of 2${clear}after\nthe end\n`);
});

test('there is no progress line without a terminal', () => {
  expect(screen(false).terminal).not.toHaveProperty('progress');
});
