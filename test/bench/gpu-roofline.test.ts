import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { letterboxFloorMs, roofline } from '../../bench/gpu/roofline.js';

/** Of the published v8 layouts at 640, and limits as a large GPU has them. */
const N = { convolutions: 63, flops: 8.7e9, activationBytes: 76e6, weightBytes: 6.4e6 };
const X = { convolutions: 103, flops: 257.8e9, activationBytes: 491.5e6, weightBytes: 136e6 };
const LIMITS = { copyGbS: 4_300, matrixTflopS: 790 };

describe('the roofline', () => {
  it('is bytes for a small network and arithmetic for a large one', () => {
    const small = roofline(N, LIMITS, 64);
    expect(small.binding).toBe('copy bandwidth');
    expect(small.imagesPerSecond / 56_500).toBeCloseTo(1, 2);
    const large = roofline(X, LIMITS, 64);
    expect(large.binding).toBe('matrix product');
    expect(large.imagesPerSecond / 3_060).toBeCloseTo(1, 2);
  });

  it('keeps both limits, and reaches one of them', () => {
    const amount = fc.double({ min: 1, max: 1e12, noNaN: true });
    const rate = fc.double({ min: 0.001, max: 1e5, noNaN: true });
    fc.assert(
      fc.property(
        fc.record({ flops: amount, activationBytes: amount, weightBytes: amount }),
        fc.record({ copyGbS: rate, matrixTflopS: rate }),
        fc.integer({ min: 1, max: 64 }),
        (work, limits, batch) => {
          const { imagesPerSecond } = roofline({ convolutions: 1, ...work }, limits, batch);
          const bytes = imagesPerSecond * (work.activationBytes + work.weightBytes / batch);
          const shares = [
            bytes / (limits.copyGbS * 1e9),
            (imagesPerSecond * work.flops) / (limits.matrixTflopS * 1e12),
          ];
          expect(Math.max(...shares)).toBeCloseTo(1, 9);
        },
      ),
    );
  });

  it('has a floor for the letterbox: pixels read, halves written', () => {
    const rgb = 3 * 640 * 480;
    const input = { width: 640, height: 640 };
    expect(letterboxFloorMs(LIMITS, 64, rgb, input)).toBeCloseTo(0.0503, 4);
    expect(letterboxFloorMs({ copyGbS: 2_150 }, 64, rgb, input)).toBeCloseTo(0.1006, 4);
    expect(letterboxFloorMs(LIMITS, 64, rgb / 2, input)).toBeCloseTo(0.0434, 4);
  });
});
