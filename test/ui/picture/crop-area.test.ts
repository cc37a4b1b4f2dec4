import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cropArea } from '../../../src/ui/picture/crop-area.js';

test('a crop holds its box, lies in the picture, and has the form of a tile where there is room', () => {
  const side = fc.integer({ min: 40, max: 4_000 });
  const part = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(side, side, fc.tuple(part, part, part, part), (width, height, [a, b, c, d]) => {
      const box: [number, number, number, number] = [
        Math.min(a, b) * width,
        Math.min(c, d) * height,
        Math.max(a, b) * width,
        Math.max(c, d) * height,
      ];
      const [x1, y1, x2, y2] = cropArea(box, { width, height });
      expect(x1).toBeGreaterThanOrEqual(0);
      expect(y1).toBeGreaterThanOrEqual(0);
      expect(x2).toBeLessThanOrEqual(width);
      expect(y2).toBeLessThanOrEqual(height);
      expect(x1).toBeLessThanOrEqual(box[0] + 1);
      expect(x2).toBeGreaterThanOrEqual(box[2] - 1);
      expect(y1).toBeLessThanOrEqual(box[1] + 1);
      expect(y2).toBeGreaterThanOrEqual(box[3] - 1);
      if (x2 - x1 < width - 1 && y2 - y1 < height - 1 && x2 - x1 > 100) {
        expect((x2 - x1) / (y2 - y1)).toBeCloseTo(4 / 3, 1);
      }
    }),
  );
});
