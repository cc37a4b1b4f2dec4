import { describe, expect, it } from 'vitest';
import { readPhotoSets } from '../../bench/accuracy/expected.js';
import { hasTestdata } from '../support/service-process.js';

describe.runIf(hasTestdata)('the sets of photos that boxes are compared on', () => {
  it('tell which models no GPU engine takes', () => {
    const sets = (readPhotoSets() ?? []).map(({ name, runTimeQuantised }) => [
      name,
      runTimeQuantised,
    ]);
    expect(Object.fromEntries(sets)).toEqual({ photos: false, coco128: false, kitti: true });
  });
});
