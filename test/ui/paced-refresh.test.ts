import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PacedRefresh } from '../../src/ui/paced-refresh.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('the first runs at once, the rest as one at the pace', async () => {
  let runs = 0;
  const refresh = new PacedRefresh(() => Promise.resolve(void (runs += 1)), 2_000);
  for (let count = 0; count < 100; count += 1) refresh.request();
  await vi.advanceTimersByTimeAsync(0);
  expect(runs).toBe(1);
  for (let second = 0; second < 10; second += 1) {
    for (let count = 0; count < 100; count += 1) refresh.request();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(runs).toBe(6);
});

test('what is asked for during a run makes it run once more, never twice at once', async () => {
  let running = 0;
  let runs = 0;
  const work = async () => {
    running += 1;
    expect(running).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    running -= 1;
    runs += 1;
  };
  const refresh = new PacedRefresh(work, 1_000);
  refresh.request();
  await vi.advanceTimersByTimeAsync(1);
  refresh.request();
  refresh.request();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(runs).toBe(2);
});

test('a stop forgets what was asked for', async () => {
  let runs = 0;
  const refresh = new PacedRefresh(() => Promise.resolve(void (runs += 1)), 1_000);
  refresh.request();
  refresh.stop();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(runs).toBe(0);
  refresh.request();
  await vi.advanceTimersByTimeAsync(0);
  expect(runs).toBe(1);
});
