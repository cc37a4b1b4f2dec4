import { expect, test } from 'vitest';
import { loopRows, OURS, type LoopRound } from '../../../bench/runs/loop-figures.js';

const LOOP = 'Python';
const round = (ours: number, loop: number, boxes = 40): LoopRound =>
  new Map([
    [OURS, { boxes: 42, told: ours, whole: ours / 2 }],
    [LOOP, { boxes, told: loop, whole: loop }],
  ]);

test('ours is shown by each side, of the medians and of each round', () => {
  const rounds = [round(20, 10), round(60, 20), round(30, 15, 41)];
  expect(loopRows(rounds, 'told')).toEqual([
    { side: OURS, boxes: '42', 'images/s': '30.0', 'ours / its': '', 'by round': '' },
    {
      ...{ side: LOOP, boxes: '40, 41', 'images/s': '15.0' },
      ...{ 'ours / its': '2.00', 'by round': '2.00 3.00 2.00' },
    },
  ]);
  expect(loopRows(rounds, 'whole')[1]).toMatchObject({ 'by round': '1.00 1.50 1.00' });
});

test('no round has no row', () => {
  expect(loopRows([], 'told')).toEqual([]);
});
