import { describe, expect, it } from 'vitest';
import { Canary } from '../../../src/models/self-check/canary.js';
import type { Detection } from '../../../src/contract/image-result.js';

const car = (confidence: number, left = 0): Detection => ({
  class: 'car',
  confidence,
  box: [left, 0, left + 100, 100],
});

describe('canary with known boxes', () => {
  const known = [
    { class: 'car', box: [0, 0, 100, 100] as [number, number, number, number] },
    { class: 'car', box: [300, 0, 400, 100] as [number, number, number, number] },
  ];

  it('passes when exactly those are sure, whatever lies below', () => {
    expect(new Canary(known).judge([car(0.9), car(0.8, 302), car(0.4, 700)])).toBeNull();
  });

  it.each([
    ['a missing box', [car(0.9), car(0.4, 300)]],
    ['a box too many', [car(0.9), car(0.8, 300), car(0.7, 700)]],
    ['a moved box', [car(0.9), car(0.8, 320)]],
    ['another class', [car(0.9), { ...car(0.8, 300), class: 'bus' }]],
  ])('fails on %s', (_what, run) => {
    expect(new Canary(known).judge(run)).toContain('the picture has 2');
  });
});

describe('canary of a model whose answer nobody knows', () => {
  it('passes while the first run is repeated', () => {
    const canary = new Canary(null);
    expect(canary.judge([car(0.05), car(0.02, 300)])).toBeNull();
    expect(canary.judge([car(0.06), car(0.02, 300), car(0.01, 500)])).toBeNull();
  });

  it.each([
    ['a vanished box', [car(0.5)]],
    ['a moved box', [car(0.5), car(0.4, 330)]],
    ['another score', [car(0.5), car(0.2, 300)]],
  ])('fails on %s', (_what, run) => {
    const canary = new Canary(null);
    canary.judge([car(0.5), car(0.4, 300)]);
    expect(canary.judge(run)).toContain('drift');
  });

  it('repeats boxes without area', () => {
    const flat: Detection = { class: 'car', confidence: 0.1, box: [0, 5, 0, 9] };
    const canary = new Canary(null);
    canary.judge([flat]);
    expect(canary.judge([flat])).toBeNull();
  });
});

describe('canary of any model', () => {
  it('finds a blind model out', () => {
    expect(new Canary(null).judge([])).toContain('sees nothing');
    expect(new Canary([]).judge([])).toContain('sees nothing');
  });

  it('finds numbers that are none', () => {
    expect(new Canary(null).judge([car(NaN)])).toContain('no numbers');
  });
});
