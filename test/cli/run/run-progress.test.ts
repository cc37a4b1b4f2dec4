import { expect, test } from 'vitest';
import { RunProgress } from '../../../src/cli/run/run-progress.js';
import type { Terminal } from '../../../src/cli/terminal.js';

function shown(onScreen: boolean) {
  const lines: string[] = [];
  const clock = { now: 0 };
  const push = (line: string) => lines.push(line);
  const terminal = { err: push, ...(onScreen && { progress: push }) } as unknown as Terminal;
  const progress = new RunProgress(terminal, () => clock.now);
  return { lines, clock, progress };
}

const NONE = { failed: 0, reused: 0 };

test('after 1 % of even pictures the time that is left is right within a tenth', () => {
  const { lines, clock, progress } = shown(true);
  for (let done = 5; done <= 100; done += 5) {
    clock.now = 1_000 + done * 20;
    progress.show({ ...NONE, total: 10_000, done }, true, false);
  }
  // 9,900 pictures of 20 ms are 198 s.
  expect(lines.at(-1)).toMatch(/100 of 10000 images, 50\.0 images\/s, 3 min 18 s left, 0 failed$/);
});

test('the rate is that of the later half of the time, of pictures that run', () => {
  const { lines, clock, progress } = shown(false);
  const show = (second: number, done: number, reused: number) => {
    clock.now = second * 1_000;
    progress.show({ total: 10_000, done, failed: 1, reused }, false, false);
  };
  show(0, 5_000, 5_000);
  expect(lines.at(-1)).toBe('5000 of 10000 or more images, 5000 as before, 1 failed');
  for (let second = 1; second <= 40; second += 1) show(second, 5_000 + 100 * second, 5_000);
  for (let second = 41; second <= 80; second += 1) show(second, 9_000 + 10 * (second - 40), 5_000);
  expect(lines.at(-1)).toBe(
    '9400 of 10000 or more images, 10.0 images/s, 60 s left, 5000 as before, 1 failed',
  );
});

test('a log has a line every 10 seconds and at each step, and none at the end', () => {
  const { lines, clock, progress } = shown(false);
  const show = (second: number, done: number, isStep: boolean) => {
    clock.now = second * 1_000;
    progress.show({ ...NONE, total: 40, done }, true, isStep);
  };
  show(0, 0, false);
  show(1, 1, false);
  show(2, 2, false);
  show(3, 3, true);
  show(9, 4, false);
  show(13, 5, false);
  show(14, 40, true);
  expect(lines.map((line) => line.split(' ', 1)[0])).toEqual(['1', '3', '5']);
});
