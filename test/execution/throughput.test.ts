import { describe, expect, it } from 'vitest';
import { Throughput } from '../../src/execution/throughput.js';

function simulate() {
  let now = 1000;
  const throughput = new Throughput(() => now);
  return {
    throughput,
    pass: (ms: number) => {
      now += ms;
    },
    image: (ms: number, counted = true) => {
      throughput.begin();
      now += ms;
      throughput.end(counted);
    },
  };
}

describe('throughput', () => {
  it('is 0 before the first image', () => {
    expect(new Throughput().perSecond()).toBe(0);
  });

  it('is the rate of work', () => {
    const { throughput, image } = simulate();
    for (let i = 0; i < 200; i++) image(25);
    expect(throughput.perSecond()).toBeCloseTo(40, 1);
  });

  it('does not fall while there is nothing to do', () => {
    const { throughput, image, pass } = simulate();
    for (let i = 0; i < 10; i++) {
      image(100);
      pass(30_000);
    }
    expect(throughput.perSecond()).toBeCloseTo(10, 1);
  });

  it('forgets what is more than a minute of work ago', () => {
    const { throughput, image } = simulate();
    for (let i = 0; i < 1000; i++) image(10);
    for (let i = 0; i < 130; i++) image(500);
    expect(throughput.perSecond()).toBeCloseTo(2, 1);
  });

  it('counts images in hand together and failures not at all', () => {
    const { throughput, pass, image } = simulate();
    throughput.begin();
    throughput.begin();
    expect(throughput.inHand).toBe(2);
    pass(1000);
    throughput.end(true);
    throughput.end(true);
    image(1000, false);
    expect(throughput.inHand).toBe(0);
    expect(throughput.perSecond()).toBeCloseTo(1, 5);
  });
});
