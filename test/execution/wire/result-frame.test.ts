import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeResult, encodeResult } from '../../../src/execution/wire/result-frame.js';
import { detectionsFrom } from '../../../src/models/raw-detections.js';

/** What a detector hands out: rows of 32-bit floats, rounded for people. */
const detections = fc
  .array(
    fc.tuple(
      fc.float({ min: 0, max: 16_384, noNaN: true }),
      fc.float({ min: 0, max: 16_384, noNaN: true }),
      fc.float({ min: 0, max: 16_384, noNaN: true }),
      fc.float({ min: 0, max: 16_384, noNaN: true }),
      fc.float({ min: 0, max: 1, noNaN: true }),
      fc.nat(3),
    ),
    { maxLength: 300 },
  )
  .map((rows) => detectionsFrom(Float32Array.from(rows.flat()), ['car', 'bus', 'lorry ü', 'x y']));
const time = fc.float({ min: 0, max: 100_000, noNaN: true });
const results = fc.record({
  detections,
  image: fc.record({ width: fc.nat(16_384), height: fc.nat(16_384) }),
  timingsMs: fc.record({
    queue: time,
    decode: time,
    preprocess: time,
    inference: time,
    postprocess: time,
  }),
  processingTimeMs: time,
  truncated: fc.boolean(),
});
const leases = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

it('gives back exactly what went in', () => {
  fc.assert(
    fc.property(leases, results, (lease, result) => {
      const frame = encodeResult(lease, result);
      expect(decodeResult(frame)).toEqual({ lease, result });
    }),
  );
});

it('takes 300 boxes in one frame of at most 8 KiB', () => {
  const box = { box: [1, 2, 3, 4] as [number, number, number, number], confidence: 0.5 };
  const frame = encodeResult(1, {
    detections: Array.from({ length: 300 }, () => ({ ...box, class: 'car' })),
    image: { width: 1, height: 1 },
    timingsMs: { queue: 0, decode: 0, preprocess: 0, inference: 0, postprocess: 0 },
    processingTimeMs: 0,
    truncated: false,
  });
  expect(frame.length).toBeLessThan(8_192);
});

it('refuses bytes that are cut off, added to, or something else', () => {
  fc.assert(
    fc.property(leases, results, fc.nat(), (lease, result, at) => {
      const frame = encodeResult(lease, result);
      expect(decodeResult(frame.subarray(0, at % frame.length))).toBeNull();
      expect(decodeResult(Buffer.concat([frame, Buffer.alloc(1 + (at % 9))]))).toBeNull();
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const frame = decodeResult(Buffer.from(bytes));
      if (frame !== null) expect(bytes[0]).toBe(1);
    }),
  );
});
