import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Detection } from '../../../src/contract/image-result.js';
import { ModelCanaries } from '../../../src/models/self-check/model-canaries.js';

const car = (left: number, confidence = 0.6): Detection => ({
  class: 'car',
  confidence,
  box: [left, 0, left + 100, 100],
});

/** Runs that are alike within an answer, and different between answers; `rounding` is of the device. */
const answer = (which: number, rounding = 0): Detection[] =>
  Array.from({ length: 8 }, (_, at) => car(1_000 * which + 150 * at + rounding, 0.9 - at / 10));

const admit = (answers: readonly number[], doubted: readonly number[] = []) => {
  const canaries = new ModelCanaries(null);
  const runs = answers.map((which, device) => ({ device, run: answer(which, device / 3) }));
  return { canaries, ...canaries.admit(runs, new Set(doubted)) };
};

const right = (faults: Map<number, string | null>) =>
  [...faults].filter(([, fault]) => fault === null).map(([device]) => device);

describe('the devices of a model without known boxes', () => {
  it('are right where more than half of them agree, in whatever order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1 }), (answers) => {
        const { faults, undecided } = admit(answers.slice(0, 9));
        const counted = answers.slice(0, 9);
        const winner = counted.find(
          (which) => 2 * counted.filter((other) => other === which).length > counted.length,
        );
        expect(undecided === null).toBe(winner !== undefined);
        expect(right(faults)).toEqual(
          [...counted.keys()].filter((device) => counted[device] === winner),
        );
      }),
    );
  });

  it('do not vote where they are blind or out for another model', () => {
    const canaries = new ModelCanaries(null);
    const runs = [[], answer(1), answer(2)].map((run, device) => ({ device, run }));
    expect(canaries.admit(runs, new Set()).undecided).not.toBeNull();
    expect(right(canaries.admit(runs, new Set([1])).faults)).toEqual([2]);
    expect(right(admit([1, 1, 2], [0, 1]).faults)).toEqual([2]);
    expect(right(admit([1, 1, 2], [0, 1, 2]).faults)).toEqual([0, 1]);
    // Where the others cannot decide, a device in doubt that agrees with one of them does.
    expect(right(admit([1, 2, 1], [2]).faults)).toEqual([0, 2]);
    expect(right(admit([1, 2, 3], [2]).faults)).toEqual([]);
  });

  it('each repeat their own first run later, those that were out the elected one', () => {
    const { canaries } = admit([1, 1, 2]);
    expect(canaries.judge(1, answer(1, 1 / 3))).toBeNull();
    expect(canaries.judge(1, answer(1, 30))).toContain('drift');
    expect(canaries.judge(2, answer(2))).toContain('drift');
    expect(canaries.judge(2, answer(1))).toBeNull();
  });

  it('may round differently, and lose a box near the limit', () => {
    const canaries = new ModelCanaries(null);
    const other = answer(1)
      .slice(0, 7)
      .map((box) => ({ ...box, confidence: box.confidence - 0.06 }));
    const { faults } = canaries.admit(
      [
        { device: 0, run: answer(1) },
        { device: 1, run: other },
      ],
      new Set(),
    );
    expect(right(faults)).toEqual([0, 1]);
    expect(canaries.judge(1, other)).toBeNull();
  });

  it('that are alone are taken at their word', () => {
    expect(admit([1])).toMatchObject({ undecided: null, faults: new Map([[0, null]]) });
  });
});

it('known boxes decide alone, whatever most devices find', () => {
  const canaries = new ModelCanaries([{ class: 'car', box: [0, 0, 100, 100] }]);
  const runs = [5, 5, 0].map((left, device) => ({ device, run: [car(100 * left)] }));
  const { faults, undecided } = canaries.admit(runs, new Set());
  expect({ right: right(faults), undecided }).toEqual({ right: [2], undecided: null });
});
