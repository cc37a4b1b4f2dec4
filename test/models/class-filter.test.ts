import { describe, expect, it } from 'vitest';
import { ClassFilter, DEFAULT_VEHICLES } from '../../src/models/class-filter.js';

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

  it('takes what there is of the default vehicles, but at least one', () => {
    expect(kitti.ids(DEFAULT_VEHICLES)).toEqual([0]);
    expect(() => new ClassFilter(['cat', 'dog']).ids(DEFAULT_VEHICLES)).toThrow(
      expect.objectContaining({ code: 'validation_failed' }),
    );
  });

  it('keeps nothing for an empty list', () => {
    expect(coco.ids([])).toEqual([]);
  });
});
