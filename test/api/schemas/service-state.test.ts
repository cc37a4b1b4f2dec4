import { expect, test } from 'vitest';
import { serviceState } from '../../../src/api/schemas/service-state.js';
import { imageFigures } from '../../../src/api/schemas/statistics.js';
import { FakeDetector } from '../../support/fake-detector.js';

const WELL = { cpuWaitRatio: 0.1, load: 0.5, cpus: 2, hangingFolders: 0, waiting: 0 };
const reasonsOf = (facts: Partial<typeof WELL>) => {
  const { state, reasons } = serviceState({ ...WELL, ...facts });
  return [state, ...reasons.map(({ reason }) => reason)];
};

test('the service is free, busy or overloaded, each with its reasons', () => {
  expect(reasonsOf({})).toEqual(['free']);
  expect(reasonsOf({ waiting: 491 })).toEqual(['busy', 'waiting']);
  expect(reasonsOf({ hangingFolders: 1 })).toEqual(['busy', 'volume']);
  expect(reasonsOf({ cpuWaitRatio: 0.97 })).toEqual(['overloaded', 'load']);
  const all = serviceState({
    cpuWaitRatio: 0.97,
    load: 62.04,
    cpus: 2,
    hangingFolders: 2,
    waiting: 1,
  });
  expect(all.state).toBe('overloaded');
  expect(all.reasons.map(({ detail }) => detail)).toEqual([
    'The machine is overloaded: the service waits for a CPU in 97 % of the time in which it wants one (load 62.0 on 2 CPUs).',
    '2 image folders do not answer.',
    '1 image waits for a worker.',
  ]);
});

test('what waits, what is in hand and what is done share no image', () => {
  const stats = { ...new FakeDetector().stats(), completed: 7, failed: 2 };
  const busy = { ...stats, waitingSync: 3, inHandSync: 1, inHandAsync: 20 };
  expect(imageFigures(busy, 511)).toEqual({ waiting: 494, inHand: 21, done: 9 });
  // The outcomes of some that have left their workers are not stored yet.
  expect(imageFigures(busy, 19)).toMatchObject({ waiting: 3 });
});
