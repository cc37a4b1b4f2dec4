/** Outcomes of images as the job service keeps them. */
import { LatticeError, type ErrorCode } from '../../src/api/errors.js';
import type { ImageOutcome } from '../../src/store/job.js';

export const okOutcome = (classes: string[] = ['car']): ImageOutcome => ({
  status: 'ok',
  detections: classes.map((name, index) => ({
    box: [10, 20, 30 + index, 40],
    confidence: 0.9 - index / 10,
    class: name,
  })),
  image: { width: 640, height: 480 },
  timingsMs: { queue: 0.1, decode: 1, preprocess: 0.2, inference: 10, postprocess: 0.1 },
  processingTimeMs: 11.4,
  truncated: false,
});

export const errorOutcome = (code: ErrorCode, detail = 'It is not one.'): ImageOutcome => ({
  status: 'error',
  error: new LatticeError(code, detail).toProblem(),
});
