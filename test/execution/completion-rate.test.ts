import { describe, expect, it } from 'vitest';
import { CompletionRate } from '../../src/execution/completion-rate.js';

const WINDOW_MS = 20_000;

function simulate() {
  let now = 1000;
  const rate = new CompletionRate(WINDOW_MS, () => now);
  return {
    rate,
    pass: (ms: number) => {
      now += ms;
    },
    image: (ms: number, counted = true) => {
      rate.begin();
      now += ms;
      rate.end(counted ? 1 : 0);
    },
  };
}

describe('the rate of completions', () => {
  it('is 0 before the first image', () => {
    expect(new CompletionRate(WINDOW_MS).perSecond()).toBe(0);
  });

  it('is the rate while images are in hand', () => {
    const { rate, image } = simulate();
    for (let i = 0; i < 200; i++) image(25);
    expect(rate.perSecond()).toBeCloseTo(40, 1);
  });

  it('does not fall while images in hand wait for a volume that hangs', () => {
    const { rate, image, pass } = simulate();
    for (let i = 0; i < 200; i++) image(25);
    rate.begin();
    pass(60_000);
    expect(rate.perSecond()).toBeGreaterThan(30);
  });

  it('does not fall while there is nothing to do', () => {
    const { rate, image, pass } = simulate();
    for (let i = 0; i < 10; i++) {
      image(100);
      pass(30_000);
    }
    expect(rate.perSecond()).toBeCloseTo(10, 1);
  });

  it('forgets completions before the window', () => {
    const { rate, image } = simulate();
    for (let i = 0; i < 1000; i++) image(10);
    for (let i = 0; i < 400; i++) image(500);
    expect(rate.perSecond()).toBeCloseTo(2, 1);
  });

  it('counts images in hand together and failures not at all', () => {
    const { rate, pass, image } = simulate();
    rate.begin();
    rate.begin();
    expect(rate.inHand).toBe(2);
    pass(1000);
    rate.end(1);
    rate.end(1);
    image(1000, false);
    expect(rate.inHand).toBe(0);
    expect(rate.perSecond()).toBeCloseTo(1, 1);
  });
});
