import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ratios,
  spread,
  typicalLatency,
  typicalRate,
  type Round,
} from '../../../bench/peers/round-figures.js';

const round = (perSecond: number, latencies: Record<string, number>): Round => ({
  perSecond,
  refused: 0,
  latencies: new Map(Object.entries(latencies)),
});
const positive = fc.double({ min: 0.01, max: 1e6, noNaN: true });

describe('quartiles', () => {
  it('lie between samples where none has their place', () => {
    expect(spread([4, 1, 3, 2])).toEqual({ q1: 1.75, median: 2.5, q3: 3.25 });
    expect(spread([5])).toEqual({ q1: 5, median: 5, q3: 5 });
    expect(spread([]).median).toBeNaN();
  });

  it('are in order, within the samples, and halve them', () => {
    fc.assert(
      fc.property(fc.array(positive, { minLength: 1 }), (samples) => {
        const { q1, median, q3 } = spread(samples);
        expect(Math.min(...samples)).toBeLessThanOrEqual(q1);
        expect(q1).toBeLessThanOrEqual(median);
        expect(median).toBeLessThanOrEqual(q3);
        expect(q3).toBeLessThanOrEqual(Math.max(...samples));
        const half = samples.length / 2;
        expect(samples.filter((each) => each < median).length).toBeLessThanOrEqual(half);
        expect(samples.filter((each) => each > median).length).toBeLessThanOrEqual(half);
      }),
    );
  });
});

describe('a server alone', () => {
  it('has the mean over the photos of each photo’s median', () => {
    const rounds = [
      round(10, { a: 10, b: 100 }),
      round(30, { a: 12, b: 900 }),
      round(20, { a: 50, b: 110 }),
    ];
    expect(typicalLatency(rounds)).toBe((12 + 110) / 2);
    expect(typicalRate(rounds)).toBe(20);
  });
});

describe('a server against another', () => {
  it('has the median of the quotients of each round', () => {
    const ours = [
      round(20, { a: 10, b: 20 }),
      round(40, { a: 20, b: 40 }),
      round(30, { a: 9, b: 9 }),
    ];
    const other = [
      round(10, { a: 20, b: 40 }),
      round(10, { a: 30, b: 30 }),
      round(30, { a: 9, b: 9 }),
    ];
    expect(ratios(ours, other)).toEqual({
      latency: { q1: 0.75, median: 1, q3: 1 },
      rate: { q1: 1.5, median: 2, q3: 3 },
    });
  });

  it('keeps its ratios when the machine is slow in some rounds', () => {
    const pace = fc.array(positive, { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(pace, positive, positive, (paces, timeRatio, rateRatio) => {
        const ours = paces.map((slow) => round(rateRatio / slow, { a: timeRatio * slow }));
        const other = paces.map((slow) => round(1 / slow, { a: slow }));
        const { latency, rate } = ratios(ours, other);
        for (const value of Object.values(latency)) expect(value / timeRatio).toBeCloseTo(1, 9);
        for (const value of Object.values(rate)) expect(value / rateRatio).toBeCloseTo(1, 9);
      }),
    );
  });
});
