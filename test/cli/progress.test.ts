import { expect, test } from 'vitest';
import { Progress } from '../../src/cli/progress.js';
import type { Terminal } from '../../src/cli/terminal.js';

/** Steps once per `everyMs` through all images; gives what was shown. */
function shown(total: number, everyMs: number, onScreen: boolean) {
  const lines: string[] = [];
  const show = (line: string) => void lines.push(line);
  const nothing = () => undefined;
  const terminal: Terminal = {
    out: nothing,
    err: onScreen ? nothing : show,
    write: () => Promise.resolve(),
    isScreen: onScreen,
    setExitCode: nothing,
    ...(onScreen ? { progress: show } : {}),
  };
  let now = 0;
  const progress = new Progress(terminal, total, () => now);
  for (let image = 0; image < total; image += 1) {
    now += everyMs;
    progress.step();
  }
  return lines;
}

test('a terminal sees a bar, the rate and the time left, ten times per second', () => {
  const lines = shown(40, 50, true);
  expect(lines).toHaveLength(19);
  expect(lines[0]).toBe(`█${'░'.repeat(23)} 2 of 40 images, 20.0 images/s, 2 s left`);
  expect(lines.at(-1)).toMatch(/^█+░ 38 of 40 images, 20.0 images\/s, 1 s left$/);
});

test('a log gets a line per 10 seconds, and none of a short run', () => {
  expect(shown(40, 50, false)).toEqual([]);
  expect(shown(20_000, 2_500, false)[0]).toBe('4 of 20000 images, 0.4 images/s, 13.9 h left');
});
