import { describe, expect, it } from 'vitest';
import { DEFAULT_VEHICLES } from '../../src/api/options.js';
import { ClassFilter, matchClasses, noSuchClass } from '../../src/models/class-filter.js';

describe('class filter', () => {
  const coco = new ClassFilter(['person', 'bicycle', 'car', 'motorcycle', 'bus', 'truck']);
  const kitti = new ClassFilter(['Car', 'Pedestrian', 'Cyclist']);

  it('keeps all classes when none is named', () => {
    expect(coco.ids(null)).toBeNull();
  });

  it('finds ids without letter case, each once, ascending', () => {
    expect(coco.ids(['TRUCK', 'car', 'Car'])).toEqual([2, 5]);
    expect(kitti.ids(['car'])).toEqual([0]);
  });

  it('takes no white space at the ends for a part of a name, and no name for another', () => {
    expect(coco.ids([' car ', 'Bus\n'])).toEqual([2, 4]);
    expect(matchClasses([' car ', ' * '], ['Car'])).toEqual({ classes: null, unknown: [] });
    expect(() => coco.ids(['motorbike'])).toThrow("no class 'motorbike'");
    expect(new ClassFilter(['motorbike', 'motorcycle']).ids(['motorbike'])).toEqual([0]);
  });

  it('takes every class of that name', () => {
    expect(new ClassFilter(['car', 'bus', 'Car']).ids(['car'])).toEqual([0, 2]);
  });

  it('refuses a name that the model lacks and lists its classes', () => {
    expect(() => kitti.ids(['car', 'bus'])).toThrow(
      expect.objectContaining({
        code: 'validation_failed',
        message: "The model has no class 'bus'. Its classes: Car, Pedestrian, Cyclist.",
      }),
    );
  });

  it('takes what there is of the default vehicles, and all classes where there is none', () => {
    expect(kitti.ids(DEFAULT_VEHICLES)).toEqual([0]);
    expect(new ClassFilter(['cat', 'dog']).ids(DEFAULT_VEHICLES)).toBeNull();
  });

  it('keeps nothing for an empty list', () => {
    expect(coco.ids([])).toEqual([]);
  });
});

describe('requested classes', () => {
  const known = ['person', 'Car', 'stop sign'];

  it('get the spelling of the model, each once', () => {
    expect(matchClasses(['STOP SIGN', 'car', 'Car'], known)).toEqual({
      classes: ['stop sign', 'Car'],
      unknown: [],
    });
  });

  it('are all for a star; a name that the model lacks is found beside it too', () => {
    expect(matchClasses(['*'], known)).toEqual({ classes: null, unknown: [] });
    expect(matchClasses(['*', 'boat'], known)).toEqual({ classes: null, unknown: [1] });
  });

  it('that a model lacks are answered with those it has, the first hundred of many', () => {
    expect(noSuchClass('own.pt', 'boat', known)).toBe(
      "own.pt has no class 'boat'. Its classes: person, Car, stop sign.",
    );
    const many = Array.from({ length: 1_203 }, (_, id) => `c${id}`);
    expect(noSuchClass('own.pt', 'boat', many)).toMatch(/, c99 and 1103 more\.$/);
  });
});
