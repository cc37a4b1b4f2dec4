import { describe, expect, it } from 'vitest';
import { compare } from '../../bench/accuracy/box-agreement.js';

type Box = [number, number, number, number];
const box = (confidence: number, edges: Box, name = 'car') => ({
  class: name,
  confidence,
  box: edges,
});
const A: Box = [0, 0, 100, 100];
const SHIFTED: Box = [5, 0, 105, 100]; // overlaps A by 95 / 105
const B: Box = [300, 0, 400, 100];

describe('found boxes against expected ones', () => {
  it('is full for equal lists, with the largest gap of scores', () => {
    const pair = { photo: 'p', expected: [box(0.9, A)], found: [box(0.88, SHIFTED)] };
    const result = compare([pair], 0.9, 0.3);
    expect(result).toMatchObject({ recall: 1, precision: 1, expected: 1, found: 1, misses: [] });
    expect(result.confidenceGap).toBeCloseTo(0.02, 12);
  });

  it('needs the overlap and the class', () => {
    const shifted = { photo: 'p', expected: [box(0.9, A)], found: [box(0.9, SHIFTED)] };
    expect(compare([shifted], 0.91, 0.3)).toMatchObject({ recall: 0, precision: 0 });
    const other = { photo: 'p', expected: [box(0.9, A)], found: [box(0.9, A, 'bus')] };
    expect(compare([other], 0.9, 0.3).misses).toHaveLength(2);
  });

  it('needs scores as close as asked for', () => {
    const pair = { photo: 'p', expected: [box(0.9, A)], found: [box(0.82, A), box(0.87, SHIFTED)] };
    expect(compare([pair], 0.9, 0.3)).toMatchObject({ recall: 1, precision: 0.5 });
    const close = compare([pair], 0.9, 0.3, 0.05);
    expect(close).toMatchObject({ recall: 1, precision: 0.5 });
    expect(close.confidenceGap).toBeCloseTo(0.03, 12);
    expect(compare([pair], 0.9, 0.3, 0.01)).toMatchObject({ recall: 0, precision: 0 });
  });

  it('counts boxes above the floor only, but lets a partner lie below it', () => {
    const pairs = [
      { photo: 'p', expected: [box(0.305, A)], found: [box(0.295, A)] },
      { photo: 'q', expected: [box(0.28, B)], found: [box(0.27, B)] },
    ];
    expect(compare(pairs, 0.9, 0.3)).toMatchObject({
      recall: 1,
      precision: 1,
      expected: 1,
      found: 0,
    });
  });

  it('gives every box one partner', () => {
    const pair = { photo: 'p', expected: [box(0.9, A)], found: [box(0.9, SHIFTED), box(0.8, A)] };
    const result = compare([pair], 0.5, 0.3);
    expect(result).toMatchObject({ recall: 1, precision: 0.5 });
    expect(result.misses[0]).toContain('not expected car 0.900');
  });

  it('takes an empty photo as agreement', () => {
    expect(compare([{ photo: 'p', expected: [], found: [] }], 0.9, 0.3)).toMatchObject({
      recall: 1,
      precision: 1,
    });
  });
});
