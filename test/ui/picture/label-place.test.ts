import { expect, test } from 'vitest';
import { LABEL_HEIGHT, labelPlace } from '../../../src/ui/picture/label-place.js';

const VIEW = { width: 800, height: 600 };

test('the label of a marked box stands above it, else inside, and always in the view', () => {
  const label = { width: 60, height: LABEL_HEIGHT };
  const box = { x: 100, y: 100, width: 80, height: 50 };
  expect(labelPlace(box, 60, VIEW)).toEqual({ x: 100, y: 100 - LABEL_HEIGHT, ...label });
  expect(labelPlace({ ...box, y: 2 }, 60, VIEW)).toEqual({ x: 100, y: 2, ...label });
  expect(labelPlace({ ...box, x: 790, y: -20 }, 60, VIEW)).toEqual({ x: 740, y: 0, ...label });
});
