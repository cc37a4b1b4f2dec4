import { describe, expect, it } from 'vitest';
import { ModelCheck } from '../../../src/models/self-check/model-check.js';
import type { Detection } from '../../../src/api/schemas/image.js';

const car = (confidence: number, left = 0): Detection => ({
  class: 'car',
  confidence,
  box: [left, 0, left + 100, 100],
});

describe('check with known boxes', () => {
  const known = [
    { class: 'car', box: [0, 0, 100, 100] as [number, number, number, number] },
    { class: 'car', box: [300, 0, 400, 100] as [number, number, number, number] },
  ];

  it('passes when exactly those are sure, whatever lies below', () => {
    expect(
      new ModelCheck(known, 'scales').judge([car(0.9), car(0.8, 302), car(0.4, 700)]),
    ).toBeNull();
  });

  it.each([
    ['a missing box', [car(0.9), car(0.4, 300)]],
    ['a box too many', [car(0.9), car(0.8, 300), car(0.7, 700)]],
    ['a moved box', [car(0.9), car(0.8, 320)]],
    ['another class', [car(0.9), { ...car(0.8, 300), class: 'bus' }]],
  ])('fails on %s', (_what, run) => {
    expect(new ModelCheck(known, 'scales').judge(run)).toContain('the picture has 2');
  });
});

describe('check of a model without known boxes', () => {
  it('passes while the first run is repeated', () => {
    const check = new ModelCheck(null, 'scales');
    expect(check.judge([car(0.05), car(0.02, 300)])).toBeNull();
    expect(check.judge([car(0.06), car(0.02, 300), car(0.01, 500)])).toBeNull();
  });

  it.each([
    ['a vanished box', [car(0.5)]],
    ['a moved box', [car(0.5), car(0.4, 330)]],
    ['another score', [car(0.5), car(0.2, 300)]],
  ])('fails on %s', (_what, run) => {
    const check = new ModelCheck(null, 'scales');
    check.judge([car(0.5), car(0.4, 300)]);
    expect(check.judge(run)).toContain('drift');
  });

  it('repeats boxes without area', () => {
    const flat: Detection = { class: 'car', confidence: 0.1, box: [0, 5, 0, 9] };
    const check = new ModelCheck(null, 'scales');
    check.judge([flat]);
    expect(check.judge([flat])).toBeNull();
  });
});

describe('check of any model', () => {
  it('finds a blind model out', () => {
    expect(new ModelCheck(null, 'scales').judge([])).toContain('sees nothing');
    expect(new ModelCheck([], 'scales').judge([])).toContain('sees nothing');
  });

  it('finds values that are not numbers', () => {
    expect(new ModelCheck(null, 'scales').judge([car(NaN)])).toContain('not numbers');
  });
});
