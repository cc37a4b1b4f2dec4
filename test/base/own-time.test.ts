/** Time limits that count the own time of another process. */
import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { cpuWaitMs, limitOwnTime } from '../../src/base/own-time.js';
import { startBusyLoops } from '../support/busy-loops.js';

const SLEEPS = ['sh', ['-c', 'sleep 600; true']] as const;

const ended = (pid: number, ms: number) =>
  new Promise<number>((resolve) => {
    const start = performance.now();
    limitOwnTime(pid, ms, () => {
      resolve(performance.now() - start);
    });
    // The limit keeps no process alive.
    setTimeout(() => undefined, ms);
  });

test('a process that waits for something else has no more than its time', async () => {
  const child = spawn(...SLEEPS, { stdio: 'ignore' });
  const { pid = 0 } = child;
  const before = cpuWaitMs(pid);
  const took = await ended(pid, 300);
  // The time that it waited for a CPU, at its start for example, comes on top.
  expect(took).toBeGreaterThanOrEqual(299);
  expect(cpuWaitMs(pid) - before).toBeLessThan(took);
  child.kill('SIGKILL');
});

test('while a process waits for a CPU, its time stands still', async () => {
  using busy = startBusyLoops();
  expect(busy.count).toBeGreaterThan(0);
  const child = spawn('sh', ['-c', 'ulimit -t 60; while :; do :; done'], { stdio: 'ignore' });
  const { pid = 0 } = child;
  const before = cpuWaitMs(pid);
  const took = await ended(pid, 1_500);
  const waited = cpuWaitMs(pid) - before;
  child.kill('SIGKILL');
  expect(waited).toBeGreaterThan(100);
  expect(took - 1_500).toBeGreaterThan(waited / 2);
});

test('a limit that was ended does not end', async () => {
  const end = limitOwnTime(process.pid, 20, () => {
    throw new Error('It was ended.');
  });
  end();
  await new Promise((resolve) => setTimeout(resolve, 100));
});

test('of a process that is gone nothing is known', () => {
  expect(cpuWaitMs(2 ** 22 + 1)).toBe(0);
});
