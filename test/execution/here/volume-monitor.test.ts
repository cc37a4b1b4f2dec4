import { afterEach, expect, test, vi } from 'vitest';
import { monitorVolumes } from '../../../src/execution/here/volume-monitor.js';
import { silent } from '../../support/silent-logger.js';

afterEach(() => {
  vi.useRealTimers();
});

test('a folder that hangs is logged once, and once more when it answers', () => {
  vi.useFakeTimers();
  const error = vi.fn();
  const info = vi.fn();
  let hanging: number[] | null = [];
  monitorVolumes({
    roots: ['/a', '/b'],
    hanging: () => hanging,
    logger: { ...silent, info, error },
  });
  const lookWith = (positions: number[] | null) => {
    hanging = positions;
    vi.advanceTimersByTime(5_000);
  };
  lookWith([]);
  lookWith([1]);
  lookWith([0, 1]);
  expect(error.mock.calls.map(([fields]) => fields as object)).toEqual([
    { folder: '/b' },
    { folder: '/a' },
  ]);
  expect(info).not.toHaveBeenCalled();
  lookWith([0]);
  expect(info.mock.calls.map(([fields]) => fields as object)).toEqual([{ folder: '/b' }]);
  lookWith([]);
  expect(info).toHaveBeenCalledTimes(2);
  expect(error).toHaveBeenCalledTimes(2);
});

test('the monitor ends with the core', () => {
  vi.useFakeTimers();
  monitorVolumes({ roots: ['/a'], hanging: () => null, logger: silent });
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(5_000);
  expect(vi.getTimerCount()).toBe(0);
});
